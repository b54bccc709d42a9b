# Compiles through ccache where it is present, unless somebody chose a launcher already. What was
# compiled in one clone serves another: paths in the clone count as relative ones.

if(NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER AND NOT DEFINED ENV{CMAKE_CXX_COMPILER_LAUNCHER})
    find_program(EDDY_CCACHE ccache)
    mark_as_advanced(EDDY_CCACHE)
    if(EDDY_CCACHE)
        set(
            CMAKE_CXX_COMPILER_LAUNCHER
            ${CMAKE_COMMAND}
            -E
            env
            CCACHE_BASEDIR=${CMAKE_SOURCE_DIR}
            CCACHE_NOHASHDIR=1
            ${EDDY_CCACHE}
        )
    endif()
endif()
