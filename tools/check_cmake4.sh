#!/usr/bin/env bash
# Configures this repository as the README says and builds webgpu_backend, and the consumer of the build in
# $1, with CMake 4. (Everything else is built with the system's CMake.)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
readonly target=.deps/cmake4
[[ -d $target ]] || .deps/venv/bin/python -m pip install --no-deps --target "$target" 'cmake>=4,<5'
readonly cmake=$PWD/$target/cmake/data/bin/cmake
"$cmake" --version
"$cmake" -B out-test/cmake4 -G Ninja -DCMAKE_BUILD_TYPE=Release -DEXECUTORCH_BUILD_WEBGPU=ON \
  -DDawn_DIR="$Dawn_DIR" -DETWG_PYTHON="$PWD/.deps/venv/bin/python" -DCMAKE_CXX_COMPILER_LAUNCHER=ccache
"$cmake" --build out-test/cmake4 --target webgpu_backend
bash tools/check_consumer.sh "$1" "$cmake"
