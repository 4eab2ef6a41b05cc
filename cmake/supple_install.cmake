# The installed package: find_package(supple) gives supple::runtime and supple::supple;
# find_package(supple COMPONENTS runtime) gives the first alone and asks for nothing but Eigen.
option(SUPPLE_INSTALL "Make the install rules" ${PROJECT_IS_TOP_LEVEL})
if(NOT SUPPLE_INSTALL)
  return()
endif()
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/supple)
set(header_rooms base math mesh fem rig asset runtime)

# One export file per library, so that a user of the runtime never meets the other's dependencies.
install(TARGETS supple_runtime EXPORT supple_runtime_targets)
install(EXPORT supple_runtime_targets NAMESPACE supple:: DESTINATION ${package_dir} FILE supple-runtime-targets.cmake)

if(TARGET supple)
  list(APPEND header_rooms offline io pipeline)
  install(TARGETS supple EXPORT supple_targets)
  install(EXPORT supple_targets NAMESPACE supple:: DESTINATION ${package_dir} FILE supple-supple-targets.cmake)
  install(FILES ${CMAKE_CURRENT_LIST_DIR}/FindMETIS.cmake DESTINATION ${package_dir})
endif()
if(TARGET supple_cli)
  install(TARGETS supple_cli RUNTIME)
endif()

foreach(room IN LISTS header_rooms)
  if(IS_DIRECTORY ${PROJECT_SOURCE_DIR}/src/supple/${room})
    install(DIRECTORY ${PROJECT_SOURCE_DIR}/src/supple/${room} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/supple
            FILES_MATCHING PATTERN "*.h")
  endif()
endforeach()
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/supple-config.cmake.in ${PROJECT_BINARY_DIR}/supple-config.cmake
                              INSTALL_DESTINATION ${package_dir})
# Before 1.0 every minor version may change the interface.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/supple-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/supple-config.cmake ${PROJECT_BINARY_DIR}/supple-config-version.cmake
        DESTINATION ${package_dir})
