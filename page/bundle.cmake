# cmake -DSOURCE=page -DWORK=folder -DOUT=folder -DSTAMP=file -DNPM=npm -DNODE=node -P bundle.cmake
# Bundle the page: in place where `make` has fetched what that needs, else in a copy of its sources. Where that fails (no network, an
# old Node.js) there is no page, and everything else installs all the same; without a stamp the next build tries again.
file(MAKE_DIRECTORY "${WORK}" "${OUT}")
if("${SOURCE}/package-lock.json" IS_NEWER_THAN "${SOURCE}/node_modules/.installed")
  file(COPY "${SOURCE}/" DESTINATION "${WORK}" PATTERN node_modules EXCLUDE)
  execute_process(COMMAND "${NPM}" ci --omit=dev --no-audit --no-fund --loglevel=error WORKING_DIRECTORY "${WORK}" TIMEOUT 300
    RESULT_VARIABLE failed OUTPUT_QUIET ERROR_VARIABLE why)
else()
  set(WORK "${SOURCE}")
endif()
if(NOT failed)
  execute_process(COMMAND "${NODE}" build.mjs "${OUT}" WORKING_DIRECTORY "${WORK}" TIMEOUT 300
    RESULT_VARIABLE failed ERROR_VARIABLE why)
endif()
if(failed)
  message(WARNING "the explorer's page is left out, since it could not be bundled (${failed}):\n${why}")
else()
  file(TOUCH "${STAMP}")
endif()
