#!/usr/bin/env bash
# Builds everything as wasm and runs its tests in node:  bash tools/test_wasm.sh [swiftshader|lavapipe]
# Needs what tools/setup.sh makes; gets Emscripten and node's WebGPU itself, into .deps/.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
readonly adapter=${1:-swiftshader}
[[ ! -f .deps/env.sh ]] || . .deps/env.sh
emscripten=$(python3 tools/get_emscripten.py)
python3 tools/get_wasm_deps.py --tests
"$emscripten/emcmake" cmake -G Ninja -B out-wasm -DCMAKE_BUILD_TYPE=Release -DETWG_BUILD_TESTS=ON -DETWG_WERROR=ON
cmake --build out-wasm
bash tools/with_adapter.sh "$adapter" ctest --test-dir out-wasm --output-on-failure
