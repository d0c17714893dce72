# `cmake --install` gives a package that find_package(Lockstep) finds, the tool, and the CPU plugin.
include(CMakePackageConfigHelpers)

set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/Lockstep")
install(TARGETS lockstep EXPORT LockstepTargets ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}")
install(DIRECTORY include/lockstep DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" FILES_MATCHING PATTERN "*.h")
if(TARGET lockstep_tool)
  install(TARGETS lockstep_tool RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
endif()
install(PROGRAMS "${LOCKSTEP_PJRT_DIR}/cpu/pjrt_plugin.so"
  DESTINATION "${CMAKE_INSTALL_LIBDIR}/lockstep/pjrt/cpu")
install(FILES LICENSE DESTINATION "${CMAKE_INSTALL_DOCDIR}")
install(EXPORT LockstepTargets NAMESPACE Lockstep:: DESTINATION "${package_dir}")
configure_package_config_file(cmake/LockstepConfig.cmake.in "${CMAKE_CURRENT_BINARY_DIR}/LockstepConfig.cmake"
  INSTALL_DESTINATION "${package_dir}")
write_basic_package_version_file("${CMAKE_CURRENT_BINARY_DIR}/LockstepConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/LockstepConfig.cmake"
  "${CMAKE_CURRENT_BINARY_DIR}/LockstepConfigVersion.cmake" DESTINATION "${package_dir}")
