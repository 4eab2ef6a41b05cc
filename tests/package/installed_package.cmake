# Installs the build into a folder, moves it, and builds and runs users' projects against what was moved.
cmake_minimum_required(VERSION 3.25)
include(${CMAKE_CURRENT_LIST_DIR}/run_or_fail.cmake)
file(REMOVE_RECURSE ${WORK})

run_or_fail(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/prefix)
file(RENAME ${WORK}/prefix ${WORK}/moved)

# No file of the package may name the source or build tree: it would not work elsewhere.
file(GLOB_RECURSE package_files ${WORK}/moved/*.cmake)
foreach(file IN LISTS package_files)
  file(READ ${file} text)
  foreach(tree IN ITEMS ${SOURCE} ${BUILD} ${WORK})
    string(FIND "${text}" "${tree}/" place)
    if(NOT place EQUAL -1)
      message(FATAL_ERROR "${file} names ${tree}")
    endif()
  endforeach()
endforeach()

# A user's own compiler and flags: none of the library's go with it.
function(build_consumer folder compiler flags)
  run_or_fail(${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR}/consumer -B ${WORK}/${folder} -G Ninja
              -D CMAKE_PREFIX_PATH=${WORK}/moved -D CMAKE_CXX_COMPILER=${compiler} -D CMAKE_CXX_FLAGS=${flags}
              ${ARGN})
  run_or_fail(${CMAKE_COMMAND} --build ${WORK}/${folder})
endfunction()

# An asset to drive, made by the command that was installed.
run_or_fail(${WORK}/moved/bin/supple example arm -o ${WORK}/arm --force)
file(WRITE ${WORK}/arm/small.toml "input = \"arm.glb\"\n[body]\ntets = 1500\n[flesh]\nsize = 12\n")
run_or_fail(${WORK}/moved/bin/supple build ${WORK}/arm/small.toml -o ${WORK}/small.supple --no-cache)
function(drive folder)
  foreach(program IN ITEMS ${ARGN})
    run_or_fail(${WORK}/${folder}/${program} ${WORK}/small.supple shoulder wrist 1)
    if(NOT output MATCHES "vertices lie between")
      message(FATAL_ERROR "${folder}/${program} says:\n${output}")
    endif()
  endforeach()
endfunction()

build_consumer(everything ${CXX} "" -D EXAMPLES=${SOURCE}/examples -D HEADERS=${WORK}/moved/include)
run_or_fail(${WORK}/everything/use_runtime)
run_or_fail(${WORK}/everything/use_supple ${WORK}/arm/arm.glb ${WORK}/baked.glb)
drive(everything drive_arm drive_arm_c)

set(hidden TBB fmt METIS Threads ZLIB draco meshoptimizer)
list(TRANSFORM hidden REPLACE "(.+)" "-DCMAKE_DISABLE_FIND_PACKAGE_\\1=TRUE" OUTPUT_VARIABLE hidden)
build_consumer(runtime_only ${CXX} -O0 -D COMPONENT=runtime -D EXAMPLES=${SOURCE}/examples ${hidden})
run_or_fail(${WORK}/runtime_only/use_runtime)
drive(runtime_only drive_arm drive_arm_c)

# C alone doesn't even ask for Eigen.
build_consumer(c_only ${CXX} "" -D COMPONENT=c -D EXAMPLES=${SOURCE}/examples ${hidden}
               -D CMAKE_DISABLE_FIND_PACKAGE_Eigen3=TRUE)
drive(c_only drive_arm_c)

find_program(CLANG clang++)
if(CLANG)
  build_consumer(with_clang ${CLANG} "" -D COMPONENT=runtime -D EXAMPLES=${SOURCE}/examples)
  drive(with_clang drive_arm drive_arm_c)
else()
  message(STATUS "clang++ isn't installed: the package was tried with one compiler only")
endif()

build_consumer(supple_only ${CXX} "" -D COMPONENT=supple)
run_or_fail(${WORK}/supple_only/use_supple)
