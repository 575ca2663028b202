#!/usr/bin/env bash
# clang-format over every C++ file of the repository (new ones that git does not ignore included).
#   bash tools/check_format.sh [--fix]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
mode=(--dry-run -Werror)
[[ ${1:-} != --fix ]] || mode=(-i)
git ls-files -z --cached --others --exclude-standard -- '*.cpp' '*.h' '*.cc' |
  xargs -0 -r -n 40 .deps/venv/bin/clang-format "${mode[@]}"
