# cmake --install: the archive, the plug-in, the tool, and a package for find_package(executorch_webgpu).
# The component `python` is what the wheel takes.

include(CMakePackageConfigHelpers)
set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/executorch_webgpu")

if(SKBUILD)
  install(TARGETS executorch_backend_webgpu LIBRARY DESTINATION executorch_webgpu COMPONENT python)
  # Dawn goes with it: a machine that installs the wheel has none.
  install(FILES "$<TARGET_FILE:dawn::webgpu_dawn>" DESTINATION executorch_webgpu COMPONENT python)
  return()
endif()

install(TARGETS webgpu_backend ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}")
install(TARGETS executorch_backend_webgpu LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")
if(TARGET etwebgpu)
  install(TARGETS etwebgpu RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
endif()
install(DIRECTORY include/ DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")

configure_package_config_file(cmake/executorch_webgpuConfig.cmake.in
  "${CMAKE_CURRENT_BINARY_DIR}/executorch_webgpuConfig.cmake"
  INSTALL_DESTINATION "${package_dir}"
  PATH_VARS CMAKE_INSTALL_LIBDIR CMAKE_INSTALL_INCLUDEDIR)
write_basic_package_version_file(
  "${CMAKE_CURRENT_BINARY_DIR}/executorch_webgpuConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES
  "${CMAKE_CURRENT_BINARY_DIR}/executorch_webgpuConfig.cmake"
  "${CMAKE_CURRENT_BINARY_DIR}/executorch_webgpuConfigVersion.cmake"
  cmake/FindExecuTorchRuntime.cmake
  DESTINATION "${package_dir}")
