#!/usr/bin/env bash
# Installs the build in $1, then builds and runs tests/consumer against the installation alone.
#   bash tools/check_consumer.sh BUILD [CMAKE]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
readonly build=$1 cmake=${2:-cmake} work=out-test/consumer
readonly wheel=$(.deps/venv/bin/python -c 'import executorch; print(list(executorch.__path__)[0])')
rm -rf "$work"
mkdir -p "$work"
"$cmake" --install "$build" --prefix "$work/prefix"
"$cmake" -S tests/consumer -B "$work/build" -G Ninja -DCMAKE_PREFIX_PATH="$PWD/$work/prefix" \
  -DDawn_DIR="$Dawn_DIR" -Dexecutorch_DIR="$wheel/share/cmake" \
  -DETWG_CONSUMER_KERNELS="$wheel/lib/libexecutorch_kernels_optimized.so"
"$cmake" --build "$work/build"
.deps/venv/bin/python tests/consumer/export_add_one.py "$work/add_one.pte"
bash tools/with_adapter.sh "$ETWG_TEST_ADAPTER" "$work/build/consumer" "$work/add_one.pte"
