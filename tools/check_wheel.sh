#!/usr/bin/env bash
# Builds the wheel with CMake 4, installs it in a new virtual environment and runs a model with it, away from the source.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
readonly root=$PWD work=$PWD/out-test/wheel python=$PWD/.deps/venv/bin/python
rm -rf "$work"
mkdir -p "$work/dist"
cmake=$(bash tools/get_cmake4.sh)
PATH="$(dirname "$cmake"):$PATH" CMAKE_CXX_COMPILER_LAUNCHER=ccache "$python" -m pip wheel . --no-deps --no-build-isolation -w "$work/dist" \
  -C cmake.define.Dawn_DIR="$Dawn_DIR" -v
ls -l "$work/dist"
"$python" -m venv "$work/venv"
# The runtime's own packages (over 1 GB) are not installed again, but seen from the environment they lie in.
"$python" -c 'import sysconfig; print(sysconfig.get_paths()["purelib"])' \
  >"$("$work/venv/bin/python" -c 'import sysconfig; print(sysconfig.get_paths()["purelib"])')/runtime.pth"
"$work/venv/bin/python" -m pip install --no-deps "$work"/dist/*.whl
cd "$work"
env -u PYTHONPATH -u ETWEBGPU_LIBRARY -u ETWEBGPU_BUILD bash "$root/tools/with_adapter.sh" "$ETWG_TEST_ADAPTER" \
  "$work/venv/bin/python" "$root/tests/wheel/use_wheel.py" "$root/examples/add_one.py"
