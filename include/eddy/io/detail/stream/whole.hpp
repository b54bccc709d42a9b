// SPDX-License-Identifier: Apache-2.0

// Converts that continue a transfer until all of the buffer is moved.
#pragma once

#include <eddy/base/config.hpp>
#include <eddy/base/error.hpp>
#include <eddy/ex/completions.hpp>
#include <eddy/ex/vocabulary.hpp>
#include <eddy/loop/requests.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include <sys/uio.h>

namespace eddy::detail {
EDDY_EX_BEGIN

/// The Convert of transfers that move a whole buffer of any size. An engine moves no more than one
/// call can, and reports an error behind moved bytes only if it is asked again. So this asks again,
/// and a write that broke off fails. Value: the number of bytes.
template <direction Direction>
class whole {
public:
    using signature = ex::set_value_t(std::size_t);
    static constexpr bool takes_parts = true;

    /// `size` is the size of the whole transfer, which begins where the request says.
    explicit whole(std::size_t size) noexcept : left_(size) {}

    void prepare(io_request& request) const noexcept { request.size = asked(); }
    bool again(io_result result, io_request& request) noexcept {
        const std::size_t count = result.count();
        const std::size_t wanted = asked();
        left_ -= count;
        moved_ += count;
        // Bytes that were read are kept, whatever comes behind them.
        if (count == 0 || left_ == 0 || (Direction == direction::in && count != wanted)) {
            return false;
        }
        const std::size_t moved_along = wanted - request.size;
        go_on_behind(count - moved_along, request);
        return true;
    }
    bool has_part() const noexcept { return moved_ != 0; }
    template <class Receiver>
    void operator()(io_result, Receiver&& receiver) const noexcept {
        ex::set_value(std::forward<Receiver>(receiver), moved_);
    }

private:
    std::size_t asked() const noexcept {
        constexpr std::size_t most = std::size_t{1} << 30U;
        return left_ < most ? left_ : most;
    }
    /// Advances the request by `count` bytes, over which no engine has advanced it yet. (An engine
    /// that needs several calls advances it between them.)
    EDDY_COLD void go_on_behind(std::size_t count, io_request& request) const noexcept {
        if (request.data != nullptr) {
            request.data = static_cast<std::byte*>(request.data) + count;
        }
        if (request.offset >= 0) {
            request.offset += static_cast<std::int64_t>(count);
        }
        prepare(request);
    }

    std::size_t left_;
    std::size_t moved_ = 0;
};

/// The Convert of writes of several whole buffers; the operation advances its vectors itself.
class whole_gather {
public:
    using signature = ex::set_value_t(std::size_t);

    explicit whole_gather(std::span<const iovec> vectors) noexcept {
        for (const iovec& vector : vectors) {
            left_ += vector.iov_len;
        }
    }

    bool again(io_result result, io_request&) noexcept {
        const std::size_t count = result.count();
        const bool broke_off = count != 0 && count < left_ && left_ < (std::size_t{1} << 30U);
        left_ -= count;
        moved_ += count;
        return broke_off;
    }
    bool has_part() const noexcept { return moved_ != 0; }
    template <class Receiver>
    void operator()(io_result, Receiver&& receiver) const noexcept {
        ex::set_value(std::forward<Receiver>(receiver), moved_);
    }

private:
    std::size_t left_ = 0;
    std::size_t moved_ = 0;
};

EDDY_EX_END
}  // namespace eddy::detail
