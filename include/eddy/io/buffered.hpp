// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/base/config.hpp>
#include <eddy/ex/vocabulary.hpp>
#include <eddy/io/detail/convert/buffer_argument.hpp>
#include <eddy/io/detail/sender/steps.hpp>
#include <eddy/io/detail/stream/buffered_writing.hpp>
#include <eddy/io/detail/stream/write_buffer.hpp>
#include <eddy/io/stream.hpp>

#include <cstddef>
#include <memory>
#include <span>

namespace eddy {
EDDY_EX_BEGIN

/// Collects small writes to a stream. They leave in one call, and on TCP in one segment.
///
///     buffered_writer out = buffered(peer);
///     co_await out.write(bytes("HTTP/1.1 200 OK\r\n"));
///     co_await out.write(bytes("Content-Length: 5\r\n\r\n"));
///     co_await out.write(bytes(body));
///     co_await out.flush();
///
/// A write that fits is copied, and completes at once without a system call. A write that does not
/// fit is sent together with everything collected before it, in one call and without a copy. Bytes
/// that fit stay collected until such a write or a flush(): there is no automatic flush, and the
/// destructor drops collected bytes.
///
/// An error or a stop loses nothing: unsent bytes stay collected, and flush() may be tried again.
/// The exception is a write that was sent in part: nobody can continue the stream after that, so
/// every later write and flush fails with `broken_pipe`.
///
/// At most one write or flush may be pending. Direct writes to the stream overtake collected bytes.
///
/// Thread: the loop's, or any while the loop does not run. Lifetime: the writer must live until its
/// senders have completed; the stream may be moved meanwhile. Closing the stream ends a pending
/// write with `operation_canceled`.
class buffered_writer {
public:
    /// Makes a writer that collects up to `capacity` bytes. Throws std::bad_alloc.
    explicit buffered_writer(const stream& to, std::size_t capacity = 16384)
        : home_(to.home()),
          buffer_(std::make_unique<detail::write_buffer>(to.get_descriptor(), capacity)) {}

    /// Collects or sends `data`, which may be changed or freed when this has completed. No value.
    auto write(std::span<const std::byte> data) noexcept { return sender(data, false); }
    /// Sends everything collected. No value; completes at once if nothing is collected.
    auto flush() noexcept { return sender({}, true); }

    // This overload turns a wrong argument into a readable compile error.
    template <detail::no_buffer<std::span<const std::byte>> Wrong>
    detail::steps_sender<detail::buffered_writing> write(Wrong&&) noexcept {
        return detail::refuse_buffer<detail::steps_sender<detail::buffered_writing>, Wrong>();
    }

    /// Returns the number of collected bytes.
    std::size_t collected() const noexcept { return buffer_->size(); }

private:
    detail::steps_sender<detail::buffered_writing> sender(std::span<const std::byte> data,
                                                          bool flushes) noexcept {
        return {home_, detail::buffered_writing(*buffer_, data, flushes)};
    }

    loop* home_;
    /// On the heap, so that moving the writer does not change its address.
    std::unique_ptr<detail::write_buffer> buffer_;
};

/// Makes a writer that collects small writes to `to`; see buffered_writer. Throws std::bad_alloc.
inline buffered_writer buffered(const stream& to, std::size_t capacity = 16384) {
    return buffered_writer(to, capacity);
}

EDDY_EX_END
}  // namespace eddy
