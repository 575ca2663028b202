# The wasm build: emcmake cmake -B out-wasm -DETWG_BUILD_TESTS=ON; see web/README.md.
#
# Included before anything else when the toolchain is Emscripten; defines the target `etwg_webgpu` (webgpu.h and
# its implementation) and, for the end of the top-level file, etwg_wasm_targets().

set(ETWG_WEBGPU_PORT "shim" CACHE STRING
    "webgpu.h on navigator.gpu: `shim` (web/shim, no download) or `emdawnwebgpu` (Emscripten's port)")
set_property(CACHE ETWG_WEBGPU_PORT PROPERTY STRINGS shim emdawnwebgpu)
set(ETWG_WASM_DEPS "${CMAKE_CURRENT_LIST_DIR}/../.deps/wasm" CACHE PATH
    "What tools/get_wasm_deps.py fetched")

# Nothing is loaded dynamically, and position-independent wasm is larger and slower.
set(CMAKE_POSITION_INDEPENDENT_CODE OFF)
# For every object and the link alike: the engine needs neither, and both cost size.
add_compile_options(-fno-exceptions -fno-rtti)
add_link_options(-fno-exceptions -fno-rtti)

# Header-only libraries of the machine, copied: its include folder also holds the headers of its C library.
set(etwg_host_headers "${CMAKE_BINARY_DIR}/host_headers")
foreach(header IN ITEMS fmt/format.h tl/expected.hpp)
  get_filename_component(folder "${header}" DIRECTORY)
  find_path(ETWG_${folder}_HOST_INCLUDE "${header}" PATHS /usr/include /usr/local/include
            NO_CMAKE_FIND_ROOT_PATH REQUIRED)
  file(COPY "${ETWG_${folder}_HOST_INCLUDE}/${folder}" DESTINATION "${etwg_host_headers}")
endforeach()
include_directories(SYSTEM "${etwg_host_headers}")

add_library(etwg_webgpu INTERFACE)
if(ETWG_WEBGPU_PORT STREQUAL "emdawnwebgpu")
  target_compile_options(etwg_webgpu INTERFACE --use-port=emdawnwebgpu)
  target_link_options(etwg_webgpu INTERFACE --use-port=emdawnwebgpu)
elseif(ETWG_WEBGPU_PORT STREQUAL "shim")
  if(NOT EXISTS "${ETWG_WASM_DEPS}/include/webgpu/webgpu.h")
    message(FATAL_ERROR "webgpu.h is missing in ${ETWG_WASM_DEPS}: run python3 tools/get_wasm_deps.py")
  endif()
  set(shim "${CMAKE_CURRENT_LIST_DIR}/../web/shim")
  set(library "${shim}/library_webgpu_shim.js")
  file(GLOB sources CONFIGURE_DEPENDS "${shim}/*.cpp")
  add_library(etwg_webgpu_shim STATIC ${sources})
  target_include_directories(etwg_webgpu_shim SYSTEM PUBLIC "${ETWG_WASM_DEPS}/include")
  target_compile_options(etwg_webgpu_shim PRIVATE -Wall -Wextra $<$<BOOL:${ETWG_WERROR}>:-Werror>)
  target_link_options(etwg_webgpu_shim INTERFACE "SHELL:--js-library ${library}")
  # The JavaScript half is an input of every link.
  set_property(TARGET etwg_webgpu_shim PROPERTY INTERFACE_LINK_DEPENDS "${library}")
  target_link_libraries(etwg_webgpu INTERFACE etwg_webgpu_shim)
else()
  message(FATAL_ERROR "ETWG_WEBGPU_PORT is '${ETWG_WEBGPU_PORT}'; it can be shim or emdawnwebgpu")
endif()

# etwg_wasm_module(<name> SOURCES <files>... LINK <targets>...): an ES module <name>.mjs beside <name>.wasm
# that runs in browsers and in node.
function(etwg_wasm_module name)
  cmake_parse_arguments(arg "" "" "SOURCES;LINK" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ${arg_LINK})
  # 4 GiB is what wasm32 can address; constants of a model pass through it on their way to the GPU.
  target_link_options(${name} PRIVATE -sMODULARIZE -sEXPORT_ES6 -sALLOW_MEMORY_GROWTH
                      -sMAXIMUM_MEMORY=4GB -sSTACK_SIZE=1MB)
  set_target_properties(${name} PROPERTIES SUFFIX ".mjs")
endfunction()

# etwg_wasm_test(<name> LINK <targets>...): tests/wasm/<name>.cpp, run in node.
function(etwg_wasm_test name)
  cmake_parse_arguments(arg "" "" "LINK" ${ARGN})
  set(tests "${CMAKE_CURRENT_SOURCE_DIR}/tests/wasm")
  etwg_wasm_module(${name} SOURCES "${tests}/${name}.cpp" LINK ${arg_LINK})
  target_link_options(${name} PRIVATE -sEXIT_RUNTIME)
  find_program(ETWG_NODE NAMES node nodejs NO_CMAKE_FIND_ROOT_PATH REQUIRED)
  add_test(NAME wasm_${name}
           COMMAND "${ETWG_NODE}" "${tests}/run.mjs" "${ETWG_WASM_DEPS}/node_modules"
                   "$<TARGET_FILE:${name}>")
endfunction()

if(ETWG_BUILD_TESTS)
  enable_testing()  # holds for the scope it is called in, so not in the function
endif()

function(etwg_wasm_targets)
  etwg_wasm_module(etwebgpu_web SOURCES "${CMAKE_CURRENT_SOURCE_DIR}/web/src/api.cpp"
                   LINK etwg_session)
  target_link_options(etwebgpu_web PRIVATE -sEXPORTED_FUNCTIONS=_malloc,_free
                      -sEXPORTED_RUNTIME_METHODS=HEAPU8,HEAP32,UTF8ToString,stringToNewUTF8)
  if(ETWG_BUILD_TESTS)
    etwg_wasm_test(add_vectors LINK etwg_webgpu)
    etwg_wasm_test(gpu_layer LINK etwg_engine)
    set(tests "${CMAKE_CURRENT_SOURCE_DIR}/tests/wasm")
    set(programs "${CMAKE_BINARY_DIR}/smoke")
    add_test(NAME wasm_export COMMAND "${ETWG_PYTHON}" "${tests}/export_smoke.py" "${programs}")
    add_test(NAME wasm_smoke
             COMMAND "${ETWG_NODE}" "${tests}/smoke.mjs" "${ETWG_WASM_DEPS}/node_modules"
                     "$<TARGET_FILE:etwebgpu_web>" "${programs}")
    set_tests_properties(wasm_export PROPERTIES FIXTURES_SETUP wasm_programs)
    set_tests_properties(wasm_smoke PROPERTIES FIXTURES_REQUIRED wasm_programs)
  endif()
endfunction()
