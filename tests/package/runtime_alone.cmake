# Proves from the compiler's own records that the runtime read nothing but its rooms, Eigen and the standard library, and
# from a program that it needs no other shared library. With SUPPLE_ALONE=1 in the environment (./go alone) the runtime is
# built for this, with every other dependency hidden; otherwise the one that is built already is looked at.
cmake_minimum_required(VERSION 3.25)
include(${CMAKE_CURRENT_LIST_DIR}/run_or_fail.cmake)
file(REMOVE_RECURSE ${WORK})
set(rooms base math mesh fem rig asset runtime)
set(others TBB fmt Threads METIS ZLIB draco meshoptimizer Spectra nlohmann_json tomlplusplus CLI11 GTest benchmark OpenMP
    BLAS LAPACK)

list(TRANSFORM others REPLACE "(.+)" "-DCMAKE_DISABLE_FIND_PACKAGE_\\1=TRUE" OUTPUT_VARIABLE hide_others)
set(archive ${BUILD}/src/supple/libsupple_runtime.a)
set(programs drive_arm)
if("$ENV{SUPPLE_ALONE}")
  set(archive "")
  list(APPEND programs drive_arm_c)
endif()
run_or_fail(${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR}/runtime_alone -B ${WORK} -G Ninja -D RUNTIME_ARCHIVE=${archive} -D CMAKE_CXX_COMPILER=${CXX}
            -D CMAKE_CXX_FLAGS=${FLAGS} -D CMAKE_BUILD_TYPE=Release
            "-DCMAKE_CXX_FLAGS_RELEASE=-O0 -DNDEBUG" -D SUPPLE_SOURCE_DIR=${SOURCE} ${hide_others})
run_or_fail(${CMAKE_COMMAND} --build ${WORK})
run_or_fail(${WORK}/runtime_alone)

# The examples drive a character with it.
if(SUPPLE)
  run_or_fail(${SUPPLE} example arm -o ${WORK}/arm --force)
  file(WRITE ${WORK}/arm/small.toml "input = \"arm.glb\"\n[body]\ntets = 1500\n[flesh]\nsize = 12\n")
  run_or_fail(${SUPPLE} build ${WORK}/arm/small.toml -o ${WORK}/small.supple --no-cache)
  foreach(program IN LISTS programs)
    run_or_fail(${WORK}/${program} ${WORK}/small.supple shoulder wrist 1)
  endforeach()
else()
  message(STATUS "the command isn't built: no character was driven")
endif()

# ---- headers ------------------------------------------------------------------------------------------------------------

# All that <bits/stdc++.h> and the compiler's intrinsics read. Parallel algorithms are the one part of the standard library
# that would bring another library with it, TBB, and are switched off.
function(find_standard_headers result)
  # The C library's own headers for mapping files belong to it as well.
  file(WRITE ${WORK}/all_standard.cpp "#include <bits/stdc++.h>\n#include <immintrin.h>\n#include <malloc.h>\n"
                                      "#include <fcntl.h>\n#include <sys/mman.h>\n#include <sys/stat.h>\n#include <unistd.h>\n")
  separate_arguments(flags UNIX_COMMAND "${FLAGS}")
  run_or_fail(${CXX} ${flags} -O3 -std=c++20 -D_GLIBCXX_USE_TBB_PAR_BACKEND=0 -M ${WORK}/all_standard.cpp)
  string(REGEX MATCHALL "/[^ \n\\]+" headers "${output}")
  resolve_paths(headers ${WORK})
  set(${result} ${headers} PARENT_SCOPE)
endfunction()

# The files that ninja's records of a build folder name.
function(files_in_records folder records result)
  string(REGEX MATCHALL "\n    [^\n]+" files "${records}")
  list(TRANSFORM files STRIP)
  resolve_paths(files ${folder})
  set(${result} ${files} PARENT_SCOPE)
endfunction()

# All that the compiler read for the runtime and the program, from the build's own records.
function(find_read_files result)
  find_program(NINJA ninja REQUIRED)
  run_or_fail(${NINJA} -C ${WORK} -t deps)
  files_in_records(${WORK} "${output}" files)
  if(archive)
    # As the build knows them: its folder may still have objects of an earlier version.
    run_or_fail(${NINJA} -C ${BUILD} -t inputs src/supple/libsupple_runtime.a)
    string(REGEX MATCHALL "[^\n]*supple_runtime\\.dir/[^\n]*\\.(o|gch)" objects "${output}")
    run_or_fail(${NINJA} -C ${BUILD} -t deps ${objects})
    files_in_records(${BUILD} "${output}" more)
    list(APPEND files ${more})
    list(REMOVE_DUPLICATES files)
  endif()
  set(${result} ${files} PARENT_SCOPE)
endfunction()

function(resolve_paths list_name folder)
  set(resolved)
  foreach(path IN LISTS ${list_name})
    file(REAL_PATH ${path} path BASE_DIRECTORY ${folder})
    list(APPEND resolved ${path})
  endforeach()
  list(REMOVE_DUPLICATES resolved)
  set(${list_name} ${resolved} PARENT_SCOPE)
endfunction()

function(is_inside path folders result)
  set(${result} FALSE PARENT_SCOPE)
  foreach(folder IN LISTS folders)
    cmake_path(IS_PREFIX folder ${path} inside)
    if(inside)
      set(${result} TRUE PARENT_SCOPE)
      return()
    endif()
  endforeach()
endfunction()

list(TRANSFORM rooms PREPEND ${SOURCE}/src/supple/ OUTPUT_VARIABLE own_folders)
file(READ ${WORK}/eigen_folders.txt eigen_folders)
set(folders ${own_folders} ${BUILD}/src/supple/CMakeFiles/supple_runtime.dir ${SOURCE}/bindings/c ${SOURCE}/examples ${eigen_folders} ${CMAKE_CURRENT_LIST_DIR}/runtime_alone ${WORK})
resolve_paths(folders ${WORK})
find_standard_headers(standard_headers)
# The compiler's own two folders, found by a header that lies in each; never /usr/include itself.
foreach(header IN LISTS standard_headers)
  if(header MATCHES "/(immintrin\\.h|vector)$")
    cmake_path(GET header PARENT_PATH folder)
    list(APPEND folders ${folder})
  endif()
endforeach()
find_read_files(read_files)

set(own_count 0)
set(strangers)
foreach(file IN LISTS read_files)
  is_inside(${file} "${folders}" inside)
  if(inside)
    math(EXPR own_count "${own_count} + 1")
  elseif(NOT file IN_LIST standard_headers)
    list(APPEND strangers ${file})
  endif()
endforeach()
list(LENGTH read_files count)
message(STATUS "${count} files read, ${own_count} of them ours, Eigen's or the compiler's")
if(own_count EQUAL 0)
  message(FATAL_ERROR "the build left no record of what it read, so nothing is proved")
endif()
if(strangers)
  list(JOIN strangers "\n  " strangers)
  message(FATAL_ERROR "the runtime reads headers that are neither its own, Eigen's nor the standard library's:\n  ${strangers}")
endif()

# ---- shared libraries -----------------------------------------------------------------------------------------------------
find_program(READELF readelf REQUIRED)
run_or_fail(${READELF} -d ${WORK}/runtime_alone)
string(REGEX MATCHALL "NEEDED[^[]*\\[[^]]+" needed "${output}")
list(TRANSFORM needed REPLACE ".*\\[" "")
message(STATUS "shared libraries: ${needed}")
list(FILTER needed EXCLUDE REGEX "^(libstdc\\+\\+|libm|libgcc_s|libc|libasan|libubsan|ld-linux.*)\\.so")
if(needed)
  message(FATAL_ERROR "the runtime needs other shared libraries: ${needed}")
endif()
