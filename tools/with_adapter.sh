#!/usr/bin/env bash
# Runs a command on one adapter:  bash tools/with_adapter.sh swiftshader|lavapipe|gpu COMMAND...
# "gpu" is whatever the machine's own Vulkan drivers offer; the other two are those tools/setup.sh unpacked.
set -euo pipefail
readonly root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd) name=${1:?adapter} # and a command
shift
case $name in
  gpu) ;;
  swiftshader | lavapipe)
    if [[ ! -f $root/.deps/$name/icd.path ]]; then
      echo "with_adapter: $name is not there; run: bash tools/setup.sh test" >&2
      exit 2
    fi
    icd=$(<"$root/.deps/$name/icd.path")
    # The first name is what old Vulkan loaders read, the second what new ones prefer.
    export VK_ICD_FILENAMES=$icd VK_DRIVER_FILES=$icd
    ;;
  *)
    echo "with_adapter: no adapter named '$name' (swiftshader, lavapipe, gpu)" >&2
    exit 2
    ;;
esac
if [[ -z ${XDG_RUNTIME_DIR:-} ]]; then # Mesa warns without one
  export XDG_RUNTIME_DIR=$root/.deps/run
  mkdir -p -m 700 "$XDG_RUNTIME_DIR"
fi
exec "$@"
