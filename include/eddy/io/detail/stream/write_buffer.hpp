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

    /// One operation at a time has it. False if it is broken.
    [[nodiscard]] bool begin() noexcept;
    /// `cut`: of the operation's own bytes, some but not all were sent.
    void end(bool cut) noexcept;

    std::size_t size() const noexcept { return size_; }
    /// False if there is no room, and nothing was done.
    [[nodiscard]] bool collect(std::span<const std::byte> data) noexcept;
    /// A request to send what was collected and then `rest`. `vectors` must live as long as it.
    io_request send(std::span<const std::byte> rest, iovec (&vectors)[2]) const noexcept;
    /// Drops what was sent. Returns how much of `count` was not from here.
    std::size_t sent(std::size_t count) noexcept;

private:
    enum class state : unsigned char { idle, pending, broken };

    io_request request_;  ///< a writev, without its vectors
    std::unique_ptr<std::byte[]> bytes_;
    std::size_t capacity_;
    std::size_t begin_ = 0;  ///< of what was collected and not sent
    std::size_t size_ = 0;
    state state_ = state::idle;
};

}  // namespace eddy::detail
