#!/usr/bin/env bash
# Makes a fresh Debian 12+ / Ubuntu 22.04+ machine ready to build and run this repository.
#
#   bash tools/setup.sh [demo|quick|test]     (demo by default)
#
# demo   compiler, libraries, Python environment, Dawn; a software adapter only where no GPU is usable
# quick  the same, and both software adapters (SwiftShader, lavapipe), as the tests run on each
# test   the same, and clang for the fuzz targets
#
# Packages come through the machine's own package manager; everything else lies in .deps/ of the repository.
# No package source is added. What each stage made is remembered by the hash of what it was made from, so a
# second run starts at once. .deps/env.sh holds the result, to be sourced.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
readonly root=$PWD deps=$PWD/.deps level=${1:-demo}
case $level in demo | quick | test) ;; *)
  echo "usage: bash tools/setup.sh [demo|quick|test]" >&2
  exit 2
  ;;
esac
mkdir -p "$deps/stamps" "$deps/log" "$deps/cache"
export XDG_CACHE_HOME=$deps/cache PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1 # nothing in the home folder

say() { printf '[setup] %s\n' "$*"; }
die() {
  printf '[setup] error: %s\n' "$*" >&2
  exit 1
}

# stage NAME KEY TEXT COMMAND...: runs the command unless it already ran for the same key. Its output goes
# to .deps/log/NAME.log and is shown if it fails.
stage() {
  local name=$1 key=$2 text=$3 start=$SECONDS pid
  shift 3
  key=$(printf '%s' "$root $key" | sha256sum | cut -d' ' -f1)
  if [[ -f $deps/stamps/$name && $(<"$deps/stamps/$name") == "$key" ]]; then return; fi
  say "$text"
  "$@" >"$deps/log/$name.log" 2>&1 &
  pid=$!
  while kill -0 $pid 2>/dev/null; do
    sleep 0.2
    if ((SECONDS - start >= 15 && (SECONDS - start) % 15 == 0)); then
      say "  ... $((SECONDS - start)) s: $(tail -n 1 "$deps/log/$name.log" | tr -d '\r' | cut -c 1-90)"
      sleep 1
    fi
  done
  if ! wait $pid; then
    tail -n 40 "$deps/log/$name.log" >&2
    die "$text failed; the whole log is .deps/log/$name.log"
  fi
  say "  done in $((SECONDS - start)) s"
  printf '%s' "$key" >"$deps/stamps/$name"
}

as_root() {
  if [[ $EUID -eq 0 ]]; then "$@"; else sudo "$@"; fi
}

wanted() { grep -hv -e '^#' -e '^$' "$@"; }

# Names of the packages, of those given, that are not installed.
missing_packages() {
  local installed
  installed=$(dpkg-query -W -f '${db:Status-Abbrev} ${Package}\n' "$@" 2>/dev/null | sed -n 's/^ii  *//p' || true)
  printf '%s\n' "$@" | grep -vxF "$installed" || true
}

apt_install() {
  local missing
  mapfile -t missing < <(missing_packages "$@")
  ((${#missing[@]})) || return 0
  echo "installing: ${missing[*]}"
  [[ $EUID -eq 0 ]] || command -v sudo >/dev/null ||
    { echo "these packages are missing and neither root nor sudo is there: ${missing[*]}"; return 1; }
  as_root apt-get update
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "${missing[@]}"
}

# clang is for the fuzz targets only: the newest of 14 to 19 that has its sanitizer runtime.
clang_packages() {
  local version
  for version in 19 18 17 16 15 14; do
    if [[ -x $(command -v clang++-$version) ]] && compgen -G "/usr/lib/llvm-$version/lib/clang/*/lib/linux/libclang_rt.fuzzer*" >/dev/null; then return; fi
  done
  for version in 16 17 18 19 15 14; do
    if apt-cache show clang-$version libclang-rt-$version-dev >/dev/null 2>&1; then
      echo clang-$version libclang-rt-$version-dev
      return
    fi
  done
  echo clang
}

install_clang() {
  local packages
  apt-cache show ninja-build >/dev/null 2>&1 || as_root apt-get update # no lists yet: nothing would be found
  read -ra packages < <(clang_packages; echo)
  ((${#packages[@]} == 0)) || apt_install "${packages[@]}"
}

# A machine with a graphics device but no Vulkan driver gets its distribution's.
graphics_packages() {
  compgen -G '/dev/dri/renderD*' >/dev/null || return 0
  compgen -G '/usr/share/vulkan/icd.d/*.json' >/dev/null || compgen -G '/etc/vulkan/icd.d/*.json' >/dev/null ||
    echo mesa-vulkan-drivers
}

python_for_venv() {
  local python
  for python in python3 python3.14 python3.13 python3.12 python3.11 python3.10; do
    if "$python" -c 'import sys; sys.exit(not (3, 10) <= sys.version_info[:2] <= (3, 14))' 2>/dev/null; then
      echo "$python"
      return
    fi
  done
  return 1
}

make_venv() {
  local python
  python=$(python_for_venv) || { echo "ExecuTorch 1.5.1 needs a Python from 3.10 to 3.14"; return 1; }
  "$deps/venv/bin/python" -m pip --version >/dev/null 2>&1 || "$python" -m venv --clear "$deps/venv"
  local pip=("$deps/venv/bin/python" -m pip install --progress-bar off)
  "${pip[@]}" -r tools/pins/python-torch.txt
  "${pip[@]}" --no-deps -r tools/pins/python-nodeps.txt
  "${pip[@]}" -r tools/pins/python.txt -c tools/pins/python-torch.txt
}

if [[ $(uname -s) == Linux ]] && command -v apt-get >/dev/null; then
  mapfile -t packages < <(wanted tools/pins/apt.txt; graphics_packages)
  [[ -z $(missing_packages "${packages[@]}") ]] || rm -f "$deps/stamps/packages"
  stage packages "${packages[*]}" "system packages, through apt-get" apt_install "${packages[@]}"
  if [[ $level == test ]]; then
    [[ -z $(clang_packages) ]] || rm -f "$deps/stamps/clang"
    stage clang 1 "clang, for the fuzz targets" install_clang
  fi
else
  say "no apt-get here: these packages (Debian's names) must be there already: $(wanted tools/pins/apt.txt | tr '\n' ' ')"
fi

stage python "$(cat tools/pins/python*.txt)" \
  "Python environment .deps/venv: torch, executorch and tools (1.1 GB or more; some minutes)" make_venv
readonly python=$deps/venv/bin/python

# Ours, from a sourced env.sh, is as good as none given.
[[ ${Dawn_DIR:-} != "$deps/dawn/lib/cmake/Dawn" ]] || unset Dawn_DIR
stage dawn "$(cat tools/get_dawn.py) ${Dawn_DIR:-}" \
  "Dawn: Dawn_DIR, else a system package, else pinned released packages" "$python" tools/get_dawn.py
readonly Dawn_DIR=$(<"$deps/dawn.dir")

stage probe "$(cat tools/probe_adapter.cpp) $Dawn_DIR" "a look at the adapters" \
  bash tools/build_probe.sh "$Dawn_DIR"

# The adapter: the machine's GPU where WebGPU accepts one, else software.
adapter=${ETWG_TEST_ADAPTER:-}
if [[ -z $adapter ]]; then
  if [[ $(timeout 60 "$deps/bin/probe_adapter" 2>/dev/null || true) == gpu* ]]; then adapter=gpu; else adapter=swiftshader; fi
fi
get_adapter() {
  stage "$1" "$(cat tools/get_adapter.py tools/private_apt.py) $Dawn_DIR" \
    "software adapter: $1, unpacked under .deps/$1" "$python" tools/get_adapter.py "$1"
  if [[ $(<"$deps/$1/state") != ok ]]; then
    say "  not usable: $(<"$deps/$1/state")"
    rm "$deps/stamps/$1" # the next run tries again
    return 1
  fi
}
usable=()
[[ $adapter != gpu ]] || usable+=(gpu)
wanted_adapters=(swiftshader lavapipe)
if [[ $level == demo ]]; then
  case $adapter in
    gpu) wanted_adapters=() ;;
    lavapipe) wanted_adapters=(lavapipe swiftshader) ;;
  esac
fi
for name in "${wanted_adapters[@]}"; do
  if get_adapter "$name"; then usable+=("$name"); fi
  [[ $level != demo || ${#usable[@]} -eq 0 ]] || break
done
((${#usable[@]})) || die "this machine has no adapter that WebGPU accepts, and no software adapter could be had:
$(cat "$deps"/{swiftshader,lavapipe}/state 2>/dev/null)"
[[ " ${usable[*]} " == *" $adapter "* ]] || adapter=${usable[0]}

path=$deps/venv/bin:
if [[ $level != demo ]]; then
  stage node "$(cat tools/fetch.py)" "node, for the wasm tests: the system's, else .deps/node" \
    "$python" tools/fetch.py
  node_folder=$("$python" tools/fetch.py)
  path+=${node_folder:+$node_folder:}
fi

cat >"$deps/env.sh" <<ENV
# Written by tools/setup.sh; to be sourced.
export Dawn_DIR=$(printf %q "$Dawn_DIR")
export ETWG_TEST_ADAPTER=$adapter # what demo.sh runs on; set it to swiftshader, lavapipe or gpu to choose
export XDG_CACHE_HOME=$(printf %q "$deps/cache")
export PATH=$(printf %q "$path")\$PATH
ENV

say "ready. Dawn: $(<"$deps/dawn.what")"
say "adapter: $(bash tools/with_adapter.sh "$adapter" timeout 60 "$deps/bin/probe_adapter" | cut -f 2-) ($adapter)"
say "$("$python" -c '
from importlib.metadata import version
import platform
print("python", platform.python_version(), *(f"· {n} {version(n)}" for n in ("torch", "executorch", "torchao")))')"
