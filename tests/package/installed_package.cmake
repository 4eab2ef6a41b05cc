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

function(build_consumer folder)
  run_or_fail(${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR}/consumer -B ${WORK}/${folder} -G Ninja
              -D CMAKE_PREFIX_PATH=${WORK}/moved -D CMAKE_CXX_COMPILER=${CXX} -D CMAKE_CXX_FLAGS=${FLAGS}
              -D CMAKE_BUILD_TYPE=Release ${ARGN})
  run_or_fail(${CMAKE_COMMAND} --build ${WORK}/${folder})
endfunction()

build_consumer(everything -D EXAMPLES=${SOURCE}/examples)
run_or_fail(${WORK}/everything/use_runtime)
run_or_fail(${WORK}/everything/use_supple)

build_consumer(runtime_only -D COMPONENT=runtime -D CMAKE_DISABLE_FIND_PACKAGE_TBB=TRUE
               -D CMAKE_DISABLE_FIND_PACKAGE_fmt=TRUE -D CMAKE_DISABLE_FIND_PACKAGE_METIS=TRUE
               -D CMAKE_DISABLE_FIND_PACKAGE_Threads=TRUE -D CMAKE_DISABLE_FIND_PACKAGE_ZLIB=TRUE
               -D CMAKE_DISABLE_FIND_PACKAGE_draco=TRUE -D CMAKE_DISABLE_FIND_PACKAGE_meshoptimizer=TRUE)
run_or_fail(${WORK}/runtime_only/use_runtime)

build_consumer(supple_only -D COMPONENT=supple)
run_or_fail(${WORK}/supple_only/use_supple)
