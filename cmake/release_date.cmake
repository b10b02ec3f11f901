# The date in packages and manual pages: SOURCE_DATE_EPOCH (seconds since 1970), else that of the last commit, else of
# CHANGELOG.md. The program itself has no date, nor a name of a folder, so that the same sources give the same bytes.
set(SEMICRF_DATE_EPOCH "$ENV{SOURCE_DATE_EPOCH}")
if(NOT SEMICRF_DATE_EPOCH)
  execute_process(COMMAND git -C ${CMAKE_SOURCE_DIR} log -1 --format=%ct
    OUTPUT_VARIABLE SEMICRF_DATE_EPOCH OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
if(NOT SEMICRF_DATE_EPOCH)
  file(TIMESTAMP ${CMAKE_SOURCE_DIR}/CHANGELOG.md SEMICRF_DATE_EPOCH "%s" UTC)
endif()
execute_process(COMMAND date -u -d @${SEMICRF_DATE_EPOCH} +%Y-%m-%d
  OUTPUT_VARIABLE SEMICRF_DATE OUTPUT_STRIP_TRAILING_WHITESPACE)
execute_process(COMMAND env LC_ALL=C date -u -R -d @${SEMICRF_DATE_EPOCH}
  OUTPUT_VARIABLE SEMICRF_DATE_RFC OUTPUT_STRIP_TRAILING_WHITESPACE)
