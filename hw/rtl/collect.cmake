# SPDX-License-Identifier: Apache-2.0
# Verilator names its sources by hashes: one source that includes them all.
file(GLOB sources RELATIVE ${FOLDER} ${FOLDER}/V*.cpp)
list(SORT sources)
list(TRANSFORM sources REPLACE "(.+)" "#include \"\\1\"" OUTPUT_VARIABLE lines)
list(JOIN lines "\n" text)
file(WRITE ${FOLDER}/all.cpp "${text}\n")
