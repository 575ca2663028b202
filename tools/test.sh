#!/usr/bin/env bash
# All tests, from a fresh machine: installs what is needed, builds in out-test/, runs every step of
# tools/test_steps.py. The last line is "N passed, N failed"; the exit code is non-zero if any failed.
#
#   bash tools/test.sh [--quick] [--only STEP...] [--list]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

level=test
for argument in "$@"; do
  case $argument in --quick | --list) level=quick ;; esac
done
# With no step run there is still one thing to count: what stopped it.
if ! bash tools/setup.sh "$level"; then
  printf '0 passed, 1 failed\n'
  exit 1
fi
. .deps/env.sh
exec .deps/venv/bin/python tools/run_steps.py "$@"
