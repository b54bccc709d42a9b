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

/// Collects small writes to a stream, so that they leave in one call and, on TCP, in one segment.
///
///     buffered_writer out = buffered(peer);
///     co_await out.write(bytes("HTTP/1.1 200 OK\r\n"));
///     co_await out.write(bytes("Content-Length: 5\r\n\r\n"));
///     co_await out.write(bytes(body));
///     co_await out.flush();
///
/// A write that fits is copied, and completes at once without a system call. A write that does not
/// fit is sent together with everything collected before it, in one call and without a copy. Bytes
/// that fit stay collected until such a write or a flush(): nothing is sent later by itself, and
/// the destructor drops what was not flushed.
///
/// An error or a stop loses nothing: the bytes that were not sent stay collected, and flush() may
/// be tried again. The exception is a write that was sent in part: the stream has an end that no
/// one can continue, so every later write and flush fails with `broken_pipe`.
///
/// Only one write or flush may be pending at a time. Writes to the stream itself overtake what is
/// collected.
///
/// Thread: the loop's, or any while the loop does not run. Lifetime: the writer until its senders
/// have completed; the stream may be moved meanwhile. Closing the stream ends a pending write with
/// `operation_canceled`.
class buffered_writer {
public:
    /// Collects up to `capacity` bytes. Throws std::bad_alloc.
    explicit buffered_writer(const stream& to, std::size_t capacity = 16384)
        : home_(to.home()),
          buffer_(std::make_unique<detail::write_buffer>(to.get_descriptor(), capacity)) {}

    /// No value. `data` may be changed or freed as soon as this has completed.
    auto write(std::span<const std::byte> data) noexcept { return sender(data, false); }
    /// Sends everything collected. No value; at once if there is nothing.
    auto flush() noexcept { return sender({}, true); }

    // A wrong argument is told so in words.
    template <detail::no_buffer<std::span<const std::byte>> Wrong>
    detail::steps_sender<detail::buffered_writing> write(Wrong&&) noexcept {
        return detail::refuse_buffer<detail::steps_sender<detail::buffered_writing>, Wrong>();
    }

    /// How many bytes wait for a flush.
    std::size_t collected() const noexcept { return buffer_->size(); }

private:
    detail::steps_sender<detail::buffered_writing> sender(std::span<const std::byte> data,
                                                          bool flushes) noexcept {
        return {home_, detail::buffered_writing(*buffer_, data, flushes)};
    }

    loop* home_;
    /// Its address does not change when the writer is moved.
    std::unique_ptr<detail::write_buffer> buffer_;
};

/// A writer that collects small writes to `to`; see buffered_writer. Throws std::bad_alloc.
inline buffered_writer buffered(const stream& to, std::size_t capacity = 16384) {
    return buffered_writer(to, capacity);
}

EDDY_EX_END
}  // namespace eddy
