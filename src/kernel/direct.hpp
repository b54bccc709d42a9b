// SPDX-License-Identifier: Apache-2.0

// Makes the system calls of the hot path without the C library's wrappers. Most wrappers are
// cancellation points: in a process with a second thread, each executes two atomic instructions.
// And after the kernel has flushed the return-stack predictor, the return from a wrapper is
// mispredicted.
#pragma once

#include "kernel/once.hpp"

#include <eddy/base/error.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef __has_feature
#define __has_feature(name) 0
#endif

/// Off where a sanitizer must see the calls to the C library.
#ifndef EDDY_DIRECT_CALLS
#if defined(__x86_64__) && !defined(__ILP32__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__) && !__has_feature(address_sanitizer) &&           \
    !__has_feature(thread_sanitizer) && !__has_feature(memory_sanitizer)
#define EDDY_DIRECT_CALLS 1
#else
#define EDDY_DIRECT_CALLS 0
#endif
#endif

namespace eddy::kernel::direct {

#if EDDY_DIRECT_CALLS

namespace detail {

template <class T>
std::int64_t in_register(T argument) noexcept {
    if constexpr (std::is_pointer_v<T>) {
        return reinterpret_cast<std::int64_t>(argument);
    } else {
        return static_cast<std::int64_t>(argument);
    }
}

template <class A, class B, class C, class D, class E = int, class F = int>
[[gnu::always_inline]] inline io_result trap(std::int64_t number, A a, B b, C c, D d, E e = 0,
                                             F f = 0) noexcept {
    const std::int64_t first = in_register(a);
    const std::int64_t second = in_register(b);
    const std::int64_t third = in_register(c);
    const std::int64_t others[] = {in_register(d), in_register(e), in_register(f)};
    // No function may be called from here on, not even by an instrumented build: a call would not
    // preserve these three registers.
    register std::int64_t fourth asm("r10") = others[0];
    register std::int64_t fifth asm("r8") = others[1];
    register std::int64_t sixth asm("r9") = others[2];
    asm volatile("syscall"
                 : "+a"(number)
                 : "D"(first), "S"(second), "d"(third), "r"(fourth), "r"(fifth), "r"(sixth)
                 : "rcx", "r11", "memory");
    return io_result::from_kernel(number);
}

}  // namespace detail

inline io_result recv(int fd, void* data, std::size_t size, int flags) noexcept {
    return detail::trap(SYS_recvfrom, fd, data, size, flags);
}
inline io_result send(int fd, const void* data, std::size_t size, int flags) noexcept {
    return detail::trap(SYS_sendto, fd, data, size, flags);
}
inline io_result epoll_wait(int epoll, epoll_event* events, int size, int timeout_ms) noexcept {
    return detail::trap(SYS_epoll_wait, epoll, events, size, timeout_ms);
}
inline io_result epoll_ctl(int epoll, int operation, int fd, epoll_event* event) noexcept {
    return detail::trap(SYS_epoll_ctl, epoll, operation, fd, event);
}
inline io_result uring_enter(int ring, unsigned to_submit, unsigned wait_for, unsigned flags,
                             const void* extra, std::size_t extra_size) noexcept {
    return detail::trap(SYS_io_uring_enter, ring, to_submit, wait_for, flags, extra, extra_size);
}

#else

inline io_result recv(int fd, void* data, std::size_t size, int flags) noexcept {
    return result_of(::recv(fd, data, size, flags));
}
inline io_result send(int fd, const void* data, std::size_t size, int flags) noexcept {
    return result_of(::send(fd, data, size, flags));
}
inline io_result epoll_wait(int epoll, epoll_event* events, int size, int timeout_ms) noexcept {
    return result_of(::epoll_wait(epoll, events, size, timeout_ms));
}
inline io_result epoll_ctl(int epoll, int operation, int fd, epoll_event* event) noexcept {
    return result_of(::epoll_ctl(epoll, operation, fd, event));
}
inline io_result uring_enter(int ring, unsigned to_submit, unsigned wait_for, unsigned flags,
                             const void* extra, std::size_t extra_size) noexcept {
    return result_of(
        ::syscall(SYS_io_uring_enter, ring, to_submit, wait_for, flags, extra, extra_size));
}

#endif

}  // namespace eddy::kernel::direct
