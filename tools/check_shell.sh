#!/usr/bin/env bash
# Every shell script of the repository parses, and stops at the first error.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
while IFS= read -r file; do
  bash -n "$file"
  grep -q '^set -euo pipefail$' "$file" || { echo "$file: 'set -euo pipefail' is missing"; exit 1; }
done < <(git ls-files --cached --others --exclude-standard -- '*.sh' .ci/run)
