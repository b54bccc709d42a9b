// SPDX-License-Identifier: Apache-2.0

// Implements the io_uring calls that liburing does not offer.
#if EDDY_HAS_IO_URING

#include "kernel/uring.hpp"

#include "kernel/direct.hpp"
#include "kernel/once.hpp"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>

#include <linux/io_uring.h>
#include <linux/time_types.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef IORING_ENTER_REGISTERED_RING
#define IORING_ENTER_REGISTERED_RING (1U << 4)
#endif

namespace eddy::kernel {

namespace {

std::error_code system_error(int error) noexcept { return {error, std::system_category()}; }

/// Converts an error: a passed deadline and an interruption are no errors. A call that has
/// submitted something returns that count and not how the wait ended.
std::error_code ended(int error) noexcept {
    return error == 0 || error == ETIME || error == EINTR ? std::error_code() : system_error(error);
}

std::error_code register_with(int ring, unsigned what, const void* argument,
                              unsigned count) noexcept {
    return once(call::uring_register,
                [&] { return ::syscall(SYS_io_uring_register, ring, what, argument, count); })
        .error();
}

}  // namespace

std::error_code uring_enable(int ring) noexcept {
    return register_with(ring, IORING_REGISTER_ENABLE_RINGS, nullptr, 0);
}

std::error_code uring_register_eventfd(int ring, int eventfd) noexcept {
    return register_with(ring, IORING_REGISTER_EVENTFD, &eventfd, 1);
}

std::error_code uring_cancel(int ring, std::uint64_t user_data, duration limit) noexcept {
    const auto ns = std::max<duration::rep>(limit.count(), 0);
    io_uring_sync_cancel_reg what{};
    what.addr = user_data;
    what.fd = -1;
    what.timeout.tv_sec = ns / 1'000'000'000;
    what.timeout.tv_nsec = ns % 1'000'000'000;
    const auto error = register_with(ring, IORING_REGISTER_SYNC_CANCEL, &what, 1);
    return error.value() == ENOENT ? std::error_code() : error;
}

std::error_code uring_enter(ring_name ring, unsigned to_submit, unsigned wait_for,
                            time_point until) noexcept {
    __kernel_timespec left{};
    io_uring_getevents_arg argument{};
    void* extra = nullptr;
    std::size_t extra_size = 0;
    unsigned flags = IORING_ENTER_GETEVENTS | (ring.registered ? IORING_ENTER_REGISTERED_RING : 0U);
    if (wait_for != 0 && until != never) {
        const time_point now = clock::now();
        const auto ns = until > now ? (until - now).count() : 0;
        left.tv_sec = ns / 1'000'000'000;
        left.tv_nsec = ns % 1'000'000'000;
        argument.ts = reinterpret_cast<std::uintptr_t>(&left);
        extra = &argument;
        extra_size = sizeof argument;
        flags |= IORING_ENTER_EXT_ARG;
    }
    return ended(once(call::uring_enter, [&] {
                     return direct::uring_enter(ring.number, to_submit, wait_for, flags, extra,
                                                extra_size);
                 }).system_error());
}

}  // namespace eddy::kernel

#endif
