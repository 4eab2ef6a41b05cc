# run_or_fail(command…): runs it, and stops with its output when it fails. The output is left in `output`.
function(run_or_fail)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT result EQUAL 0)
    string(JOIN " " command ${ARGN})
    message(FATAL_ERROR "${output}\nfailed (${result}): ${command}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()
