# Readers for the file formats of ExecuTorch, generated from the schemas that its wheel carries.
#
#   etwg_generate_readers(<out_include_dir>)
#
# Needs EXECUTORCH_WHEEL_DIR: the folder of the installed `executorch` package. Generates
# <out_include_dir>/readers/{schema,program,scalar_type,flat_tensor}_generated.h in the build tree when a
# schema is newer than they are, sets the variable named by <out_include_dir>, and defines the INTERFACE
# target `etwg_readers`, which carries that folder and the FlatBuffers headers.
#
# It runs at configure time, so that no target needs to depend on a generation step, and repeats by itself
# when a schema changes.

function(etwg_generate_readers out_include_dir)
  # The paths of the machine itself, also when cross-compiling: flatc runs here, and the headers are plain
  # C++ for any target. The flatc beside the headers goes first: generated code fits headers of its own
  # version only, and a Python environment with executorch has another flatc, early on the PATH.
  find_path(ETWG_FLATBUFFERS_INCLUDE flatbuffers/flatbuffers.h NO_CMAKE_FIND_ROOT_PATH
            PATHS /usr/include /usr/local/include)
  find_program(ETWG_FLATC flatc NO_CMAKE_FIND_ROOT_PATH HINTS "${ETWG_FLATBUFFERS_INCLUDE}/../bin")
  if(NOT ETWG_FLATC OR NOT ETWG_FLATBUFFERS_INCLUDE)
    message(FATAL_ERROR
      "FlatBuffers is missing (flatc: ${ETWG_FLATC}; headers: ${ETWG_FLATBUFFERS_INCLUDE}). "
      "On Debian and Ubuntu: apt-get install flatbuffers-compiler libflatbuffers-dev")
  endif()
  if(NOT IS_DIRECTORY "${EXECUTORCH_WHEEL_DIR}")
    message(FATAL_ERROR
      "EXECUTORCH_WHEEL_DIR ('${EXECUTORCH_WHEEL_DIR}') is not the folder of an installed "
      "`executorch` Python package; its FlatBuffer schemas are needed to build the readers.")
  endif()

  set(include_dir "${CMAKE_BINARY_DIR}/generated")
  set(schemas
    backends/vulkan/serialization/schema.fbs
    exir/_serialize/scalar_type.fbs
    exir/_serialize/program.fbs
    extension/flat_tensor/serialize/flat_tensor.fbs)
  foreach(schema IN LISTS schemas)
    set(path "${EXECUTORCH_WHEEL_DIR}/${schema}")
    if(NOT EXISTS "${path}")
      message(FATAL_ERROR "${schema} is missing in ${EXECUTORCH_WHEEL_DIR}: this `executorch` package "
        "is not one that the readers can be generated from (1.5.1 is).")
    endif()
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${path}")
    get_filename_component(name "${schema}" NAME_WE)
    set(header "${include_dir}/readers/${name}_generated.h")
    if(EXISTS "${header}" AND NOT "${path}" IS_NEWER_THAN "${header}"
       AND NOT "${ETWG_FLATC}" IS_NEWER_THAN "${header}")
      continue()
    endif()
    execute_process(
      COMMAND "${ETWG_FLATC}" --cpp --cpp-std c++17 --scoped-enums
              -o "${include_dir}/readers" "${path}"
      RESULT_VARIABLE failed OUTPUT_VARIABLE output ERROR_VARIABLE output)
    if(failed)
      message(FATAL_ERROR "flatc could not read ${path}: ${output}")
    endif()
  endforeach()

  if(CMAKE_CROSSCOMPILING)
    # A folder of their own, for the other headers of the machine must not be seen.
    file(COPY "${ETWG_FLATBUFFERS_INCLUDE}/flatbuffers" DESTINATION "${include_dir}")
    set(flatbuffers_include "")
  else()
    set(flatbuffers_include "${ETWG_FLATBUFFERS_INCLUDE}")
  endif()

  if(NOT TARGET etwg_readers)
    add_library(etwg_readers INTERFACE)
    target_include_directories(etwg_readers SYSTEM INTERFACE "${include_dir}" ${flatbuffers_include})
  endif()
  set(${out_include_dir} "${include_dir}" PARENT_SCOPE)
endfunction()
