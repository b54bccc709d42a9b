# SPDX-License-Identifier: Apache-2.0
# Compiles through ccache where it is present, unless somebody chose a launcher already.

if(NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER AND NOT DEFINED ENV{CMAKE_CXX_COMPILER_LAUNCHER})
    find_program(EDDY_CCACHE ccache)
    mark_as_advanced(EDDY_CCACHE)
    if(EDDY_CCACHE)
        set(CMAKE_CXX_COMPILER_LAUNCHER ${EDDY_CCACHE})
    endif()
endif()
