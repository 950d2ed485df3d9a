# Writes FILE with the version and, if WITH is "commit", what `git describe` says of SOURCE:
# "0.2.0+1f0c9a7b3", ".dirty" behind it where files differ from that commit. Not from a checkout,
# the version alone.
set(build "")
if(WITH STREQUAL commit AND EXISTS ${SOURCE}/.git)
  execute_process(COMMAND git -C ${SOURCE} describe --always --exclude=* --abbrev=9 --dirty=.dirty
    OUTPUT_VARIABLE build OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
if(build)
  string(PREPEND build "+")
endif()
set(text "#include \"version.h\"\nconst char tb_version[] = \"${VERSION}${build}\";\n")
set(old "")
if(EXISTS ${FILE})
  file(READ ${FILE} old)
endif()
if(NOT old STREQUAL text)
  file(WRITE ${FILE} "${text}")
endif()
