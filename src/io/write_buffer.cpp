// SPDX-License-Identifier: Apache-2.0

// Collects small writes, and makes the request that sends them together.
#include <eddy/io/detail/stream/write_buffer.hpp>

#include <eddy/base/assert.hpp>

#include <algorithm>
#include <cstring>

namespace eddy::detail {

write_buffer::write_buffer(const descriptor& to, std::size_t capacity)
    : request_(writev_all(to, {})),
      bytes_(std::make_unique_for_overwrite<std::byte[]>(capacity)),
      capacity_(capacity) {}

bool write_buffer::begin() noexcept {
    EDDY_ASSERT(state_ != state::pending,
                "a buffered_writer was used while a write or flush was pending: await it first");
    if (state_ == state::broken) {
        return false;
    }
    state_ = state::pending;
    return true;
}

void write_buffer::end(bool cut) noexcept { state_ = cut ? state::broken : state::idle; }

bool write_buffer::collect(std::span<const std::byte> data) noexcept {
    if (data.size() > capacity_ - size_) {
        return false;
    }
    if (begin_ != 0) {  // an earlier flush has sent a part
        std::memmove(bytes_.get(), bytes_.get() + begin_, size_);
        begin_ = 0;
    }
    std::copy(data.begin(), data.end(), bytes_.get() + size_);
    size_ += data.size();
    return true;
}

io_request write_buffer::send(std::span<const std::byte> rest, iovec (&vectors)[2]) const noexcept {
    int count = 0;
    if (size_ != 0) {
        vectors[count++] = {bytes_.get() + begin_, size_};
    }
    if (!rest.empty()) {
        vectors[count++] = {const_cast<std::byte*>(rest.data()), rest.size()};
    }
    io_request request = request_;
    request.data = vectors;
    request.flags = count;
    return request;
}

std::size_t write_buffer::sent(std::size_t count) noexcept {
    const std::size_t own = std::min(count, size_);
    size_ -= own;
    begin_ = size_ == 0 ? 0 : begin_ + own;
    return count - own;
}

}  // namespace eddy::detail
