# `./go package`: one .deb with the command, the libraries, their headers and, where ./go web has built it, the page.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME supple)
set(CPACK_PACKAGE_CONTACT "The Supple developers <supple@users.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_PACKAGE_DESCRIPTION
    "The command supple bakes soft motion into rigged, animated glTF characters; libsupple.so\nand supple::runtime play it in programs. Needs a processor with AVX2.")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_PACKAGE_FILE_NAME supple_${PROJECT_VERSION}_amd64)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_PACKAGE_SECTION graphics)
# What the programs load is read off them; what programs compile against is the user's choice.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR}/bindings/c)
set(CPACK_DEBIAN_PACKAGE_SUGGESTS
    "libeigen3-dev, libtbb-dev, libfmt-dev, libmetis-dev, zlib1g-dev, libdraco-dev, libmeshoptimizer-dev")
include(CPack)
