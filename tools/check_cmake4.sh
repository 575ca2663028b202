#!/usr/bin/env bash
# What the system's CMake has done, with CMake 4: configures as the README says, and builds the consumer of the
# build in $1. (The wheel is built by CMake 4 as well.)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
readonly cmake=$(bash tools/get_cmake4.sh)
"$cmake" --version
"$cmake" -B out-test/cmake4 -G Ninja -DCMAKE_BUILD_TYPE=Release -DEXECUTORCH_BUILD_WEBGPU=ON \
  -DDawn_DIR="$Dawn_DIR" -DETWG_PYTHON="$PWD/.deps/venv/bin/python"
bash tools/check_consumer.sh "$1" "$cmake"
