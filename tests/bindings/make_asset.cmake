# A small character and a small object for the tests of the C interface.
cmake_minimum_required(VERSION 3.25)
include(${CMAKE_CURRENT_LIST_DIR}/../package/run_or_fail.cmake)
run_or_fail(${SUPPLE} example arm -o ${WORK} --force)
file(WRITE ${WORK}/small.toml "input = \"arm.glb\"\n[body]\ntets = 1500\n[flesh]\nsize = 12\n")
run_or_fail(${SUPPLE} build ${WORK}/small.toml -o ${WORK}/small.supple --no-cache)
run_or_fail(${SUPPLE} build ${SOURCE}/examples/beam_model.toml -o ${WORK}/beam.supple)
file(WRITE ${WORK}/free.toml "mesh = \"box\"\n[box]\nsize = [0.4, 0.1, 0.1]\ncells = [6, 2, 2]\n[reduce]\nmodes = 6\nsize = 10\n")
run_or_fail(${SUPPLE} build ${WORK}/free.toml -o ${WORK}/free.supple)
