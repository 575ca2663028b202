#!/usr/bin/env bash
# Gets CMake 4 into .deps/ and prints the path of its program.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
readonly target=$PWD/.deps/cmake4
[[ -d $target ]] || .deps/venv/bin/python -m pip install --quiet --no-deps --target "$target" 'cmake>=4,<5' >&2
printf '%s\n' "$target/cmake/data/bin/cmake"
