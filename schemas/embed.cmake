# Writes SOURCE and HEADER with the bytes of FILES as C arrays, and a table of those that are
# networks, which are the INI files but for the hosts.
file(WRITE ${HEADER}.new "// Made from schemas/. Terminated strings.\n#pragma once\n")
file(WRITE ${SOURCE}.new "#include \"schemas.h\"\n")
foreach(file IN LISTS FILES)
  get_filename_component(name ${file} NAME)
  get_filename_component(base ${file} NAME_WE)
  string(REGEX REPLACE "[^A-Za-z0-9]" "_" name ${name})
  file(READ ${file} bytes HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "'\\\\x\\1'," bytes "${bytes}")
  string(REGEX REPLACE "('.x[0-9a-f][0-9a-f]',){16}" "\\0\n" bytes "${bytes}")
  file(APPEND ${HEADER}.new "extern const char tb_schema_${name}[];\n")
  file(APPEND ${SOURCE}.new "const char tb_schema_${name}[] = {\n${bytes}0};\n")
  if(file MATCHES "[.]ini$" AND NOT file MATCHES "/hosts[.]ini$")
    string(APPEND networks "\t{\"${base}\", tb_schema_${name}},\n")
  endif()
endforeach()
file(APPEND ${HEADER}.new "// By name; {NULL, NULL} behind the last.\n"
  "struct tb_schema_network {\n\tconst char *name, *text;\n};\n"
  "extern const struct tb_schema_network tb_schema_networks[];\n")
file(APPEND ${SOURCE}.new
  "const struct tb_schema_network tb_schema_networks[] = {\n${networks}\t{0, 0},\n};\n")
file(RENAME ${HEADER}.new ${HEADER})
file(RENAME ${SOURCE}.new ${SOURCE})
