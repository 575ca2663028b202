# Turns the .wgsl files into one C++ file: wgsl_source(name) of src/kernels/wgsl.h.
#
#   etwg_embed_wgsl(<out_variable> <directory>)
#
# adds the rule and sets the variable to the generated file. The same file is the script that the
# rule runs (cmake -P with INPUT_DIR and OUTPUT set).

function(etwg_embed_wgsl out_variable directory)
  file(GLOB sources CONFIGURE_DEPENDS "${directory}/*.wgsl")
  set(output "${CMAKE_CURRENT_BINARY_DIR}/wgsl_embedded.cpp")
  add_custom_command(
    OUTPUT "${output}"
    COMMAND "${CMAKE_COMMAND}" "-DINPUT_DIR=${directory}" "-DOUTPUT=${output}"
            -P "${CMAKE_CURRENT_FUNCTION_LIST_FILE}"
    DEPENDS ${sources} "${CMAKE_CURRENT_FUNCTION_LIST_FILE}"
    COMMENT "Embedding WGSL kernels"
    VERBATIM)
  set(${out_variable} "${output}" PARENT_SCOPE)
endfunction()

if(CMAKE_SCRIPT_MODE_FILE AND INPUT_DIR)
  file(GLOB sources "${INPUT_DIR}/*.wgsl")
  list(SORT sources)
  set(rows "")
  foreach(source IN LISTS sources)
    get_filename_component(name "${source}" NAME_WLE)
    file(READ "${source}" text)
    string(APPEND rows "    {\"${name}\", R\"wgsl(${text})wgsl\"},\n")
  endforeach()
  file(WRITE "${OUTPUT}" "#include \"kernels/wgsl.h\"

#include <iterator>
#include <utility>

namespace executorch::backends::webgpu {

std::string_view wgsl_source(std::string_view name) {
  static constexpr std::pair<std::string_view, std::string_view> kSources[] = {
${rows}  };
  for (const auto& [key, text] : kSources) {
    if (key == name) return text;
  }
  return {};
}

}  // namespace executorch::backends::webgpu
")
endif()
