# Compiler settings shared by every target. `supple_options` is linked PRIVATE and never exported:
# a user's own flags decide how the library's headers compile in their project.
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()

find_program(SUPPLE_CCACHE ccache)
if(SUPPLE_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # Precompiled headers need these two relaxations, or nothing is ever found in the cache.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros ${SUPPLE_CCACHE})
endif()

add_library(supple_options INTERFACE)
target_compile_features(supple_options INTERFACE cxx_std_20)
target_compile_options(supple_options INTERFACE -Wall -Wextra -Wpedantic -Wno-psabi)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # -fno-math-errno lets sqrt become one instruction. Nothing that changes results (no -ffast-math).
  # Garbage is collected later than by default, which saves a tenth of the time where memory isn't scarce.
  target_compile_options(supple_options INTERFACE -fno-math-errno -fpch-preprocess
                         "SHELL:--param ggc-min-heapsize=1000000" "SHELL:--param ggc-min-expand=100")
else()
  target_compile_options(supple_options INTERFACE -fno-math-errno)
endif()
