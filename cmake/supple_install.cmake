# The installed package: find_package(supple) gives supple::runtime and supple::supple.
