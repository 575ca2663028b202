#!/usr/bin/env bash
# clang-tidy over the sources of the build in $1, on every core:  check_tidy.sh BUILD [--deep]
# The static analyzer takes three times as long as all other checks: it runs only with --deep.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
readonly build=$1
checks=-clang-analyzer-*
[[ ${2-} != --deep ]] || checks=
# clang-tidy reads g++'s compile commands; a warning flag that clang lacks is no finding.
git ls-files -z --cached --others --exclude-standard -- 'src/*.cpp' |
  xargs -0 -r -n 1 -P "$(nproc)" .deps/venv/bin/clang-tidy -p "$build" --quiet \
    --checks="$checks" --extra-arg=-Wno-unknown-warning-option
