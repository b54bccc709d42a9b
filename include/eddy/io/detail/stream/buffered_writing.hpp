// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/base/error.hpp>
#include <eddy/ex/completions.hpp>
#include <eddy/ex/vocabulary.hpp>
#include <eddy/io/detail/sender/steps.hpp>
#include <eddy/io/detail/stream/write_buffer.hpp>

#include <cstddef>
#include <span>
#include <system_error>
#include <utility>

#include <sys/uio.h>

namespace eddy::detail {
EDDY_EX_BEGIN

/// One write or flush of a buffered_writer.
class buffered_writing {
public:
    using signature = ex::set_value_t();

    buffered_writing(write_buffer& buffer, std::span<const std::byte> data, bool flushes) noexcept
        : buffer_(&buffer), rest_(data), flushes_(flushes) {}
    /// A copy is another operation, which has not begun.
    buffered_writing(const buffered_writing& other) noexcept
        : buffered_writing(*other.buffer_, other.rest_, other.flushes_) {}
    buffered_writing& operator=(const buffered_writing&) = delete;
    /// If a call is pending, nobody knows how much was sent, and the stream is broken.
    ~buffered_writing() { end(pending_); }

    step begin(io_request& request, std::error_code& error) noexcept {
        if (!buffer_->begin()) {
            error = std::make_error_code(std::errc::broken_pipe);
            return step::failed;
        }
        begun_ = true;
        if (!flushes_ && buffer_->collect(rest_)) {
            return step::done;
        }
        return call(request);
    }
    step next(io_result result, io_request& request, std::error_code& error) noexcept {
        pending_ = false;
        const std::size_t own = buffer_->sent(result.count());
        cut_ = cut_ || own != 0;
        rest_ = rest_.subspan(own);
        if (result.count() == 0 && !is_over()) {
            error = std::make_error_code(std::errc::io_error);
            return step::failed;
        }
        return call(request);
    }
    template <class Receiver>
    void complete(Receiver&& receiver) noexcept {
        end(false);
        ex::set_value(std::forward<Receiver>(receiver));
    }
    void drop() noexcept { end(cut_); }

private:
    bool is_over() const noexcept { return rest_.empty() && buffer_->size() == 0; }
    /// Even a request for all may move only a part.
    step call(io_request& request) noexcept {
        if (is_over()) {
            return step::done;
        }
        request = buffer_->send(rest_, vectors_);
        pending_ = true;
        return step::call;
    }
    void end(bool cut) noexcept {
        if (std::exchange(begun_, false)) {
            buffer_->end(cut);
        }
    }

    write_buffer* buffer_;
    std::span<const std::byte> rest_;
    bool flushes_;
    bool begun_ = false;
    bool pending_ = false;  ///< a call is pending
    bool cut_ = false;      ///< some of the operation's own bytes were sent
    iovec vectors_[2];
};

EDDY_EX_END
}  // namespace eddy::detail
