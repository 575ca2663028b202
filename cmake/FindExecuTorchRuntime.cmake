# Finds the ExecuTorch runtime and defines the INTERFACE target `etwg_executorch` that compiles and
# links against it. In this order:
#   1. targets of an ExecuTorch source build that this project is a subdirectory of;
#   2. the CMake package in executorch_DIR;
#   3. the package of the `executorch` wheel in the Python environment.
# Also sets EXECUTORCH_WHEEL_DIR (the package's folder, where the file schemas lie) and
# EXECUTORCH_RUNTIME_LIBRARY_DIR (where libexecutorch.so lies, for a build-tree rpath).

if(NOT EXECUTORCH_WHEEL_DIR AND executorch_DIR)
  foreach(up IN ITEMS ".." "../.." "../../..")
    get_filename_component(candidate "${executorch_DIR}/${up}" ABSOLUTE)
    if(EXISTS "${candidate}/exir/_serialize/program.fbs")
      set(EXECUTORCH_WHEEL_DIR "${candidate}")
    endif()
  endforeach()
endif()
if(NOT EXECUTORCH_WHEEL_DIR AND TARGET executorch AND EXECUTORCH_ROOT)
  set(EXECUTORCH_WHEEL_DIR "${EXECUTORCH_ROOT}")
endif()
if(NOT EXECUTORCH_WHEEL_DIR)
  set(hints "${CMAKE_CURRENT_LIST_DIR}/../.deps/venv/bin")
  if(DEFINED ENV{VIRTUAL_ENV})  # unset, it would hint at /bin
    list(INSERT hints 0 "$ENV{VIRTUAL_ENV}/bin")
  endif()
  find_program(ETWG_PYTHON NAMES python3 python HINTS ${hints})
  if(ETWG_PYTHON)
    execute_process(
      COMMAND "${ETWG_PYTHON}" -c
              "import importlib.util as u; print(list(u.find_spec('executorch').submodule_search_locations)[0])"
      OUTPUT_VARIABLE EXECUTORCH_WHEEL_DIR OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  endif()
endif()
if(NOT EXECUTORCH_WHEEL_DIR OR NOT IS_DIRECTORY "${EXECUTORCH_WHEEL_DIR}")
  message(FATAL_ERROR
    "ExecuTorch was not found. Install it (pip install executorch==1.5.1) in the active Python "
    "environment, or set executorch_DIR to its CMake package.")
endif()
set(EXECUTORCH_WHEEL_DIR "${EXECUTORCH_WHEEL_DIR}" CACHE PATH "Folder of the executorch package")

function(etwg_find_executorch_runtime)
  add_library(etwg_executorch INTERFACE)
  # Without ET_EVENT_TRACER_ENABLED the runtime's profiling hooks compile to nothing.
  target_compile_definitions(etwg_executorch INTERFACE
    C10_USING_CUSTOM_GENERATED_MACROS ET_EVENT_TRACER_ENABLED ET_USE_THREADPOOL)
  if(TARGET executorch AND TARGET executorch_core)
    target_link_libraries(etwg_executorch INTERFACE executorch)
    return()
  endif()
  find_package(executorch CONFIG REQUIRED
    HINTS "${executorch_DIR}" "${EXECUTORCH_WHEEL_DIR}/share/cmake"
    NO_CMAKE_FIND_ROOT_PATH)
  target_include_directories(etwg_executorch SYSTEM INTERFACE ${EXECUTORCH_INCLUDE_DIRS})
  # The runtime alone: which CPU kernels go with it is the application's choice.
  find_library(ETWG_EXECUTORCH_LIBRARY executorch
    HINTS "${EXECUTORCH_RUNTIME_LIBRARY_DIR}" "${EXECUTORCH_WHEEL_DIR}/lib"
    NO_DEFAULT_PATH REQUIRED)
  get_filename_component(library_dir "${ETWG_EXECUTORCH_LIBRARY}" DIRECTORY)
  set(EXECUTORCH_RUNTIME_LIBRARY_DIR "${library_dir}" PARENT_SCOPE)
  target_link_libraries(etwg_executorch INTERFACE "${ETWG_EXECUTORCH_LIBRARY}")
endfunction()
