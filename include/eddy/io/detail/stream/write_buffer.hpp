// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/base/config.hpp>
#include <eddy/loop/requests.hpp>

#include <cstddef>
#include <memory>
#include <span>

#include <sys/uio.h>

namespace eddy::detail {

/// Holds the bytes that a buffered_writer has collected.
///
///     idle --begin()--> pending --end(), not cut--> idle
///                       pending --end(), cut--> broken
class EDDY_API write_buffer {
public:
    /// Throws std::bad_alloc.
    write_buffer(const descriptor& to, std::size_t capacity);

    /// Gives the buffer to one operation. False if the stream is broken.
    [[nodiscard]] bool begin() noexcept;
    /// `cut` means that some but not all of the operation's own bytes were sent.
    void end(bool cut) noexcept;

    std::size_t size() const noexcept { return size_; }
    /// Copies `data` into the buffer. False if there is no room, and nothing was done.
    [[nodiscard]] bool collect(std::span<const std::byte> data) noexcept;
    /// Makes a request for the collected bytes and then `rest`. `vectors` must live as long as it.
    io_request send(std::span<const std::byte> rest, iovec (&vectors)[2]) const noexcept;
    /// Drops bytes that were sent. Returns how many of `count` were not from this buffer.
    std::size_t sent(std::size_t count) noexcept;

private:
    enum class state : unsigned char { idle, pending, broken };

    io_request request_;  ///< a writev, without its vectors
    std::unique_ptr<std::byte[]> bytes_;
    std::size_t capacity_;
    std::size_t begin_ = 0;  ///< of the bytes that were collected and not sent
    std::size_t size_ = 0;
    state state_ = state::idle;
};

}  // namespace eddy::detail
