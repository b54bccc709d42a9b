// SPDX-License-Identifier: Apache-2.0

// Reads and sets the positions of files around writes.
#if EDDY_HAS_IO_URING

#include "engine/uring/uring_position.hpp"

#include "engine/request_facts.hpp"
#include "kernel/descriptor.hpp"
#include "kernel/file.hpp"

#include <cstdio>

namespace eddy {

namespace {

bool is_write(const io_request& request) noexcept {
    using enum opcode;
    return detail::has(detail::codes(write, writev), request.code);
}

}  // namespace

void uring_position::remember(io_request& request) noexcept {
    if (request.offset != -1 || !is_write(request) || request.slot->kind != descriptor_kind::file) {
        return;
    }
    std::int64_t position = 0;
    if (!kernel::seek(request.slot->fd, 0, SEEK_CUR, position)) {
        request.offset = -2 - position;
    }
}

void uring_position::correct(io_request& request, io_result result) noexcept {
    const std::int64_t before = -2 - request.offset;
    request.offset = -1;
    if (result.raw() <= 0 || result.count() >= size_of(request)) {
        return;
    }
    const int fd = request.slot->fd;
    std::int64_t now = 0;
    if (kernel::seek(fd, 0, SEEK_CUR, now) || now != before) {
        return;
    }
    static_cast<void>(kernel::appends(fd) ? kernel::seek(fd, 0, SEEK_END, now)
                                          : kernel::seek(fd, before + result.raw(), SEEK_SET, now));
}

void uring_position::forget(io_request& request) noexcept {
    if (is_write(request) && request.offset < -1) {
        request.offset = -1;
    }
}

}  // namespace eddy

#endif
