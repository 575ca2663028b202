#!/usr/bin/env bash
# Compiles tools/probe_adapter.cpp against the Dawn package in $1 (a Dawn_DIR) into .deps/bin/probe_adapter.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
build=.deps/probe-build
rm -rf "$build"
mkdir -p "$build" .deps/bin
cat >"$build/CMakeLists.txt" <<'CMAKE'
cmake_minimum_required(VERSION 3.19)
project(probe_adapter LANGUAGES C CXX)
find_package(Dawn REQUIRED)
add_executable(probe_adapter ${SOURCE})
target_compile_features(probe_adapter PRIVATE cxx_std_20)
target_link_libraries(probe_adapter PRIVATE dawn::webgpu_dawn)
CMAKE
cmake -G Ninja -S "$build" -B "$build/out" -DCMAKE_BUILD_TYPE=Release "-DDawn_DIR=$1" "-DSOURCE=$PWD/tools/probe_adapter.cpp"
cmake --build "$build/out"
cp "$build/out/probe_adapter" .deps/bin/probe_adapter.new
mv .deps/bin/probe_adapter.new .deps/bin/probe_adapter
