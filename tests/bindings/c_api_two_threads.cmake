# Two threads with two states of one character, all of the runtime built with the thread sanitizer.
cmake_minimum_required(VERSION 3.25)
include(${CMAKE_CURRENT_LIST_DIR}/../package/run_or_fail.cmake)
# It compiles the runtime once more, which takes minutes: `./go tsan` asks for it, and CI does.
if(NOT DEFINED ENV{SUPPLE_TSAN})
  message("skipped: ./go tsan runs this")
  return()
endif()
file(MAKE_DIRECTORY ${WORK})
file(WRITE ${WORK}/none.cpp "int main() { return 0; }\n")
execute_process(COMMAND ${CXX} -fsanitize=thread ${WORK}/none.cpp -o ${WORK}/none RESULT_VARIABLE built OUTPUT_QUIET ERROR_QUIET)
if(built EQUAL 0)
  execute_process(COMMAND ${WORK}/none RESULT_VARIABLE built OUTPUT_QUIET ERROR_QUIET)
endif()
if(NOT built EQUAL 0)
  message("skipped: the thread sanitizer doesn't work here")
  return()
endif()
run_or_fail(${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR}/two_threads -B ${WORK}/build -G Ninja -D CMAKE_CXX_COMPILER=${CXX}
            "-DCMAKE_CXX_FLAGS=-fsanitize=thread -O1 -march=x86-64-v3" -D CMAKE_BUILD_TYPE=None
            -D SUPPLE_SOURCE_DIR=${SOURCE})
run_or_fail(${CMAKE_COMMAND} --build ${WORK}/build --target two_threads)
run_or_fail(${WORK}/build/two_threads ${ASSET})
