# SPDX-License-Identifier: Apache-2.0
# cmake --install: headers, library, the package for find_package(eddy CONFIG), and eddy.pc.

include(CMakePackageConfigHelpers)

set(eddy_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/eddy)

install(
    TARGETS eddy
    EXPORT eddyTargets
    RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR}
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
    INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
)
install(
    DIRECTORY ${PROJECT_SOURCE_DIR}/include/eddy ${PROJECT_BINARY_DIR}/include/eddy
              ${PROJECT_SOURCE_DIR}/compat/eddy
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
    FILES_MATCHING
    PATTERN "*.hpp"
)
install(EXPORT eddyTargets NAMESPACE eddy:: DESTINATION ${eddy_package_dir})

# A static libeddy leaves it to its users to link liburing; a shared one has done so. The headers of
# another vocabulary are a matter of the users in any case.
set(EDDY_USERS_FIND "")
if(eddy_type STREQUAL "STATIC_LIBRARY" AND EDDY_HAS_IO_URING)
    list(APPEND EDDY_USERS_FIND liburing)
endif()
if(EDDY_EXECUTION STREQUAL "stdexec")
    list(APPEND EDDY_USERS_FIND stdexec)
endif()
foreach(dependency IN LISTS EDDY_USERS_FIND)
    install(FILES ${PROJECT_SOURCE_DIR}/cmake/Find${dependency}.cmake
            DESTINATION ${eddy_package_dir}
    )
endforeach()

configure_package_config_file(
    ${PROJECT_SOURCE_DIR}/cmake/eddyConfig.cmake.in ${PROJECT_BINARY_DIR}/eddyConfig.cmake
    INSTALL_DESTINATION ${eddy_package_dir}
)
# Before 1.0 a minor version may break its users.
write_basic_package_version_file(
    ${PROJECT_BINARY_DIR}/eddyConfigVersion.cmake COMPATIBILITY SameMinorVersion
)
install(
    FILES ${PROJECT_BINARY_DIR}/eddyConfig.cmake ${PROJECT_BINARY_DIR}/eddyConfigVersion.cmake
    DESTINATION ${eddy_package_dir}
)

# eddy.pc. Who links a static libeddy (pkg-config --static) links also what is in its .private lines;
# with a shared one nobody needs to have liburing's headers.
set(EDDY_PC_REQUIRES_PRIVATE "")
set(EDDY_PC_LIBS_PRIVATE "")
# The directory of stdexec is for the users to name.
set(EDDY_PC_CFLAGS "")
if(NOT EDDY_EXECUTION STREQUAL "builtin")
    string(APPEND EDDY_PC_CFLAGS " -D${eddy_execution_definition}")
endif()
if(eddy_type STREQUAL "STATIC_LIBRARY")
    string(APPEND EDDY_PC_CFLAGS " -DEDDY_STATIC")
    string(STRIP "${CMAKE_THREAD_LIBS_INIT} -lstdc++" EDDY_PC_LIBS_PRIVATE)
    if(EDDY_HAS_IO_URING)
        set(EDDY_PC_REQUIRES_PRIVATE "liburing")
    endif()
endif()
# The prefix is found from where the file lies, unless the directories were given as absolute paths.
if(IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}" OR IS_ABSOLUTE "${CMAKE_INSTALL_INCLUDEDIR}")
    set(EDDY_PC_PREFIX ${CMAKE_INSTALL_PREFIX})
else()
    file(RELATIVE_PATH up /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
    string(REGEX REPLACE "/$" "" up "${up}")
    set(EDDY_PC_PREFIX "\${pcfiledir}/${up}")
endif()
cmake_path(ABSOLUTE_PATH CMAKE_INSTALL_LIBDIR BASE_DIRECTORY "\${prefix}" OUTPUT_VARIABLE EDDY_PC_LIBDIR)
cmake_path(
    ABSOLUTE_PATH CMAKE_INSTALL_INCLUDEDIR
    BASE_DIRECTORY "\${prefix}"
    OUTPUT_VARIABLE EDDY_PC_INCLUDEDIR
)
configure_file(cmake/eddy.pc.in ${PROJECT_BINARY_DIR}/eddy.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/eddy.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
