# SPDX-License-Identifier: MIT
#
# Whether a page shows programs as they are: of each source its code, from the first #include to its `// Output:` comment, and what
# that comment says, each as a fenced block (check_output.cmake compares the comment with what the program prints):
#   cmake -DPAGE=docs/stories.md "-DSOURCES=examples/story_blocks.cpp;..." -P check_page.cmake
cmake_minimum_required(VERSION 3.25)

file(READ "${PAGE}" page)
set(differ)
foreach(source IN LISTS SOURCES)
  file(READ "${source}" text)
  string(FIND "${text}" "#include" begin)
  string(FIND "${text}" "\n// Output:\n" end)
  if(begin EQUAL -1 OR end LESS begin)
    message(FATAL_ERROR "${source}: no #include, or no '// Output:' comment after it")
  endif()
  math(EXPR length "${end} - ${begin}")
  string(SUBSTRING "${text}" ${begin} ${length} code)
  math(EXPR end "${end} + 12")
  string(SUBSTRING "${text}" ${end} -1 output)
  string(REGEX REPLACE "(^|\n)// ?" "\\1" output "${output}")
  foreach(block IN ITEMS "cpp\n${code}" "\n${output}")
    string(FIND "${page}" "\n```${block}```\n" at)
    if(at EQUAL -1)
      list(APPEND differ "${source}")
      message("--- ${PAGE} lacks, of ${source}:\n```${block}```")
    endif()
  endforeach()
endforeach()
if(differ)
  message(FATAL_ERROR "${PAGE} does not show these as they are: ${differ}")
endif()
