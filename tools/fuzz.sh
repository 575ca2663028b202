#!/usr/bin/env bash
# Builds every fuzz target with clang under ASan and UBSan, and runs each for a while on the corpus, all at once.
#   bash tools/fuzz.sh SECONDS [TARGET...]        (600 by hand; CI takes less)
# What it finds is left in out-fuzz/findings/, what each target says in out-fuzz/TARGET.log.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
readonly seconds=${1:?seconds for each target}
shift
clang=
for version in '' -19 -18 -17 -16 -15 -14; do
  candidate=$(command -v "clang++$version" || true)
  [[ -n $candidate ]] || continue
  if echo 'extern "C" int LLVMFuzzerTestOneInput(const unsigned char*, unsigned long) { return 0; }' |
    "$candidate" -x c++ - -fsanitize=fuzzer,address -o /dev/null 2>/dev/null; then
    clang=$candidate
    break
  fi
done
[[ -n $clang ]] || { echo "fuzz: no clang++ with libFuzzer; run: bash tools/setup.sh test" >&2; exit 1; }
echo "fuzz: $clang, $seconds s a target"
readonly wheel=$(.deps/venv/bin/python -c 'import executorch; print(list(executorch.__path__)[0])')
cmake -S tests/fuzz -B out-fuzz -G Ninja -DCMAKE_CXX_COMPILER="$clang" -DEXECUTORCH_WHEEL_DIR="$wheel" \
  -DCMAKE_CXX_COMPILER_LAUNCHER=ccache
cmake --build out-fuzz
mkdir -p out-fuzz/findings
targets=("$@")
if ((${#targets[@]} == 0)); then
  mapfile -t targets < <(find out-fuzz -maxdepth 1 -type f -perm -u+x -name 'fuzz_*' -printf '%f\n' | sort)
fi
((${#targets[@]})) || { echo "fuzz: no targets were built" >&2; exit 1; }
# Every program that is at hand is a seed: those committed, and those the tests exported.
rm -rf out-fuzz/seeds
mkdir -p out-fuzz/seeds
while IFS= read -r file; do
  ln -s "$PWD/$file" "out-fuzz/seeds/$(sha256sum "$file" | cut -c 1-16).pte" 2>/dev/null || true
done < <(find tests out-test -name '*.pte' -size -512k 2>/dev/null)
# And the delegates of those by themselves: small, so that most of what is altered matters.
.deps/venv/bin/python tests/fuzz/extract_blobs.py out-fuzz/blobs tests out-test out/pack out/pack-quick
running=()
trap 'kill "${running[@]}" 2>/dev/null || true' EXIT
for target in "${targets[@]}"; do
  grown=out-fuzz/corpus/$target # what the fuzzer adds
  mkdir -p "$grown"
  "out-fuzz/$target" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=4096 -print_final_stats=1 \
    -artifact_prefix="out-fuzz/findings/$target-" "$grown" out-fuzz/seeds out-fuzz/blobs &>"out-fuzz/$target.log" &
  running+=($!)
done
failed=0
for i in "${!targets[@]}"; do
  wait "${running[i]}" || failed=1
  echo "== ${targets[i]}"
  cat "out-fuzz/${targets[i]}.log"
done
exit "$failed"
