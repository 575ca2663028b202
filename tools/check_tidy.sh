#!/usr/bin/env bash
# clang-tidy over the sources of the build in $1, on every core:  check_tidy.sh BUILD [--deep]
# The static analyzer follows calls of any depth only with --deep, where it takes several times as long as all
# other checks.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
readonly build=$1
options=()
if [[ ${2-} != --deep ]]; then
  for word in -Xclang -analyzer-config -Xclang mode=shallow; do options+=("--extra-arg=$word"); done
fi
# clang-tidy reads g++'s compile commands: a warning flag that clang lacks is no finding, nor is a warning of its
# own in a header of the system, which -Werror would make one.
git ls-files -z --cached --others --exclude-standard -- 'src/*.cpp' |
  xargs -0 -r -n 1 -P "$(nproc)" .deps/venv/bin/clang-tidy -p "$build" --quiet \
    --extra-arg=-Wno-unknown-warning-option --extra-arg=-Wno-error "${options[@]}"
