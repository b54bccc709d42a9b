// SPDX-License-Identifier: Apache-2.0

// Repeats a transfer until all bytes are moved.
#include "engine/whole_transfer.hpp"

#include "engine/engine.hpp"
#include "kernel/io.hpp"

#include <sys/uio.h>

namespace eddy {

namespace {

bool wants_all(const io_request& request) noexcept {
    return request.all && !looks_elsewhere(request) &&
           request.slot->kind != descriptor_kind::datagram;
}

void drop_front(io_request& request, std::uint64_t count) noexcept {
    if (request.code != opcode::readv && request.code != opcode::writev) {
        if (request.data != nullptr) {
            request.data = static_cast<std::byte*>(request.data) + count;
        }
        request.size -= count;
        return;
    }
    auto* vector = static_cast<iovec*>(request.data);
    for (; count >= vector->iov_len; ++vector) {  // ends, because there are more than `count`
        count -= vector->iov_len;
        --request.flags;
    }
    vector->iov_base = static_cast<std::byte*>(vector->iov_base) + count;
    vector->iov_len -= count;
    request.data = vector;
}

}  // namespace

bool advance(io_request& request, io_result result, std::uint64_t moved_before) noexcept {
    const std::uint64_t count = result.count();
    const bool partial = count != 0 && wants_all(request) && count < size_of(request);
    // One operation moves no more than one call could, even if the vectors have more.
    if (!partial || moved_before + count >= kernel::transfer_max) {
        return false;
    }
    drop_front(request, count);
    if (request.offset >= 0) {
        request.offset += static_cast<std::int64_t>(count);
    }
    return true;
}

io_result perform_whole(io_request& request) noexcept {
    std::uint64_t moved = 0;
    io_result last = engine::perform(request);
    while (advance(request, last, moved)) {
        moved += last.count();
        last = engine::perform(request);
    }
    return moved == 0 ? last : io_result::value(static_cast<std::int64_t>(moved + last.count()));
}

}  // namespace eddy
