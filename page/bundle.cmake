# cmake -DSOURCE=page -DWORK=folder -DOUT=folder -DNPM=npm -DNODE=node -P bundle.cmake
# Bundle the page in a copy of its sources. Without a network there is no page, and everything else installs all the same.
file(MAKE_DIRECTORY "${WORK}" "${OUT}")
file(COPY "${SOURCE}/" DESTINATION "${WORK}" PATTERN node_modules EXCLUDE)
execute_process(COMMAND "${NPM}" ci --no-audit --no-fund --loglevel=error WORKING_DIRECTORY "${WORK}"
  RESULT_VARIABLE failed OUTPUT_QUIET ERROR_VARIABLE why)
if(NOT failed)
  execute_process(COMMAND "${NODE}" build.mjs "${OUT}" WORKING_DIRECTORY "${WORK}" RESULT_VARIABLE failed ERROR_VARIABLE why)
  if(failed)
    message(FATAL_ERROR "the explorer's page cannot be bundled:\n${why}")
  endif()
else()
  message(WARNING "the explorer's page is left out, since npm could not install what it is bundled from:\n${why}")
endif()
