#!/usr/bin/env bash
# From a fresh machine to models running on its GPU: installs what is needed (tools/setup.sh), builds, and
# runs the main job. A second run starts at once. Arguments go to examples/main_job.py.
#
#   bash tools/demo.sh
#   ETWG_TEST_ADAPTER=lavapipe bash tools/demo.sh     (or swiftshader, gpu)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

bash tools/setup.sh demo
. .deps/env.sh

printf '[demo] building in out/ (the first time some minutes)\n'
generator=()
[[ -f out/CMakeCache.txt ]] || generator=(-G Ninja)
mkdir -p out
if ! { cmake -B out "${generator[@]}" -DCMAKE_BUILD_TYPE=Release -DEXECUTORCH_BUILD_WEBGPU=ON \
  -DDawn_DIR="$Dawn_DIR" -DPython3_EXECUTABLE=.deps/venv/bin/python -DETWG_PYTHON="$PWD/.deps/venv/bin/python" \
  >out/configure.log 2>&1; }; then
  tail -n 40 out/configure.log >&2
  exit 1
fi
cmake --build out --parallel

printf '[demo] the main job, on %s\n' "$ETWG_TEST_ADAPTER"
exec bash tools/with_adapter.sh "$ETWG_TEST_ADAPTER" .deps/venv/bin/python examples/main_job.py "$@"
