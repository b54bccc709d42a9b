# SPDX-License-Identifier: Apache-2.0
# Finds the libraries that eddy is compared with. Each is optional: a missing one is an n/a row.

# bench_peer(NAME HEADER LIBRARY...) makes the target bench_peer_NAME, or says what is missing.
function(bench_peer name header)
    find_path(BENCH_${name}_INCLUDE ${header})
    set(found ${BENCH_${name}_INCLUDE})
    add_library(bench_peer_${name}_candidate INTERFACE)
    # SYSTEM: warnings in other people's headers are not ours to mend.
    target_include_directories(
        bench_peer_${name}_candidate SYSTEM INTERFACE ${BENCH_${name}_INCLUDE}
    )
    foreach(library IN LISTS ARGN)
        find_library(BENCH_${name}_${library} ${library})
        list(APPEND found ${BENCH_${name}_${library}})
        target_link_libraries(bench_peer_${name}_candidate INTERFACE ${BENCH_${name}_${library}})
    endforeach()
    if(found MATCHES "NOTFOUND")
        message(STATUS "bench: ${name} was not found, its rows will say n/a")
    else()
        add_library(bench_peer_${name} ALIAS bench_peer_${name}_candidate)
    endif()
endfunction()

bench_peer(uring liburing.h uring)
bench_peer(libuv uv.h uv)
bench_peer(libevent event2/event.h event_core event_pthreads)
bench_peer(libev ev.h ev)
bench_peer(asio asio.hpp)
list(APPEND CMAKE_INCLUDE_PATH ${STDEXEC_INCLUDE_DIR})  # it is in no Debian package
bench_peer(stdexec stdexec/execution.hpp)
if(TARGET bench_peer_asio)
    # This asio recognises the coroutines of C++20 with g++ only.
    target_compile_definitions(
        bench_peer_asio_candidate
        INTERFACE ASIO_STANDALONE ASIO_HAS_CO_AWAIT ASIO_HAS_STD_COROUTINE
    )
endif()
