# The native products: the backend library, the plug-in, the command line tool, tests.

include(GNUInstallDirs)
etwg_find_executorch_runtime()
find_package(Threads REQUIRED)
target_link_libraries(etwg_engine PUBLIC Threads::Threads ${CMAKE_DL_LIBS})

# The ExecuTorch adapter. The registration lies in an object library, so that every product that
# holds it keeps it, whatever the linker thinks of unreferenced archives.
file(GLOB adapter_sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/src/executorch/*.cpp")
add_library(etwg_adapter OBJECT ${adapter_sources})
target_link_libraries(etwg_adapter PUBLIC etwg_engine etwg_executorch)

# The loadable plug-in.
add_library(executorch_backend_webgpu SHARED $<TARGET_OBJECTS:etwg_adapter>)
target_link_libraries(executorch_backend_webgpu PRIVATE etwg_engine etwg_executorch)
set_target_properties(executorch_backend_webgpu PROPERTIES
  BUILD_RPATH_USE_ORIGIN ON
  INSTALL_RPATH "$ORIGIN;$ORIGIN/../executorch/lib")

# What C++ applications link: one archive with all layers. The undefined-symbol option pulls the
# registration out of it, which nothing calls by name.
add_library(webgpu_backend STATIC
  $<TARGET_OBJECTS:etwg_adapter> $<TARGET_OBJECTS:etwg_engine> $<TARGET_OBJECTS:etwg_core>)
add_library(executorch_webgpu::webgpu_backend ALIAS webgpu_backend)
target_include_directories(webgpu_backend INTERFACE "${CMAKE_CURRENT_SOURCE_DIR}/include")
target_link_libraries(webgpu_backend
  INTERFACE etwg_executorch etwg_webgpu Threads::Threads ${CMAKE_DL_LIBS})
target_link_options(webgpu_backend INTERFACE
  "LINKER:-u,$<$<PLATFORM_ID:Darwin>:_>etwebgpu_backend_registration")
# The archive holds objects of other targets: CMake cannot see its language.
set_target_properties(webgpu_backend PROPERTIES LINKER_LANGUAGE CXX)

file(GLOB cli_sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/src/cli/*.cpp")
if(cli_sources)
  find_path(ETWG_CLI11_INCLUDE CLI/CLI.hpp REQUIRED)
  find_path(ETWG_JSON_INCLUDE nlohmann/json.hpp REQUIRED)
  add_executable(etwebgpu ${cli_sources})
  target_include_directories(etwebgpu SYSTEM PRIVATE "${ETWG_CLI11_INCLUDE}" "${ETWG_JSON_INCLUDE}")
  target_link_libraries(etwebgpu PRIVATE etwg_session)
endif()

include(Install)

if(ETWG_BUILD_TESTS)
  enable_testing()
  find_package(GTest REQUIRED)
  file(GLOB cpu_tests CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/tests/cpp/*.cpp")
  file(GLOB gpu_tests CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/tests/gpu/*.cpp")
  add_executable(etwebgpu_tests ${cpu_tests})
  target_link_libraries(etwebgpu_tests PRIVATE etwg_program etwg_core GTest::gtest_main)
  add_executable(etwebgpu_gpu_tests ${gpu_tests})
  target_link_libraries(etwebgpu_gpu_tests PRIVATE etwg_session GTest::gtest_main)
  target_include_directories(etwebgpu_tests PRIVATE tests/support)
  target_include_directories(etwebgpu_gpu_tests PRIVATE tests/support)
  add_test(NAME etwebgpu_tests COMMAND etwebgpu_tests)
  add_test(NAME etwebgpu_gpu_tests COMMAND etwebgpu_gpu_tests)
endif()
if(ETWG_BUILD_BENCH)
  add_subdirectory(bench)
endif()
