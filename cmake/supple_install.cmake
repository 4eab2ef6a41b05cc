# The installed package: find_package(supple) gives supple::runtime, supple::c and supple::supple;
# find_package(supple COMPONENTS runtime) gives the first alone and asks for nothing but Eigen,
# find_package(supple COMPONENTS c) the library with the C interface, which asks for nothing at all.
option(SUPPLE_INSTALL "Make the install rules" ${PROJECT_IS_TOP_LEVEL})
if(NOT SUPPLE_INSTALL)
  return()
endif()
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/supple)

# install_headers(GROUP): those of a group of public_headers.txt.
function(install_headers group)
  file(STRINGS ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/public_headers.txt lines REGEX "^[^#]")
  set(on FALSE)
  foreach(line IN LISTS lines)
    if(line MATCHES "^\\[")
      set(on FALSE)
      if(line STREQUAL "[${group}]")
        set(on TRUE)
      endif()
    elseif(on)
      cmake_path(GET line PARENT_PATH folder)
      install(FILES ${PROJECT_SOURCE_DIR}/src/supple/${line} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/supple/${folder})
    endif()
  endforeach()
endfunction()
install_headers(runtime)

# One export file per library, so that a user of the runtime never meets the other's dependencies.
install(TARGETS supple_runtime EXPORT supple_runtime_targets)
install(EXPORT supple_runtime_targets NAMESPACE supple:: DESTINATION ${package_dir} FILE supple-runtime-targets.cmake)

install(TARGETS supple_c EXPORT supple_c_targets)
install(EXPORT supple_c_targets NAMESPACE supple:: DESTINATION ${package_dir} FILE supple-c-targets.cmake)
install(FILES ${PROJECT_SOURCE_DIR}/bindings/c/supple.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})

if(TARGET supple)
  install_headers(supple)
  install(TARGETS supple EXPORT supple_targets)
  install(EXPORT supple_targets NAMESPACE supple:: DESTINATION ${package_dir} FILE supple-supple-targets.cmake)
  install(FILES ${CMAKE_CURRENT_LIST_DIR}/FindMETIS.cmake DESTINATION ${package_dir})
endif()
if(TARGET supple_cli)
  install(TARGETS supple_cli RUNTIME)
endif()
if(TARGET supple_gallery)  # draws for `supple preview`
  install(TARGETS supple_gallery RUNTIME)
endif()

# What `supple report` shows.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/bench/results DESTINATION ${CMAKE_INSTALL_DATADIR}/supple)

# What ./go web has built by then.
install(FILES ${PROJECT_SOURCE_DIR}/build/web/view.html DESTINATION ${CMAKE_INSTALL_DATADIR}/supple OPTIONAL)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/build/web/runtime DESTINATION ${CMAKE_INSTALL_DATADIR}/supple OPTIONAL)

install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/supple-config.cmake.in ${PROJECT_BINARY_DIR}/supple-config.cmake
                              INSTALL_DESTINATION ${package_dir})
# Before 1.0 every minor version may change the interface.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/supple-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/supple-config.cmake ${PROJECT_BINARY_DIR}/supple-config-version.cmake
        DESTINATION ${package_dir})
include(${CMAKE_CURRENT_LIST_DIR}/supple_package.cmake)
