# Read by ctest, not by the configuration: gives each of ${tests} of the room ${room} its labels,
# which follow from its name.

foreach(test IN LISTS tests)
    set(labels ${room})
    set(timeout_s "")
    if(test MATCHES "^(.*/)?Long[^./]*\\.")
        list(APPEND labels long)
        set(timeout_s TIMEOUT 1800)
    endif()
    if(test MATCHES "NoTsan[./]")
        list(APPEND labels no-tsan)
    endif()
    if(test MATCHES "NoAsan[./]")
        list(APPEND labels no-asan)
    endif()
    set_tests_properties("${test}" PROPERTIES LABELS "${labels}" ${timeout_s})
endforeach()
