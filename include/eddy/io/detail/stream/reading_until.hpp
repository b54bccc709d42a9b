// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/base/error.hpp>
#include <eddy/ex/completions.hpp>
#include <eddy/ex/vocabulary.hpp>
#include <eddy/io/detail/sender/steps.hpp>
#include <eddy/loop/descriptor.hpp>
#include <eddy/loop/requests.hpp>

#include <cstddef>
#include <string_view>
#include <system_error>
#include <utility>

namespace eddy::detail {
EDDY_EX_BEGIN

/// Reads into room behind the bytes that the buffer has; see read_until().
template <class Buffer>
class reading_until {
public:
    using signature = ex::set_value_t(std::size_t);
    static_assert(sizeof(typename Buffer::value_type) == 1, "read_until: a buffer of bytes");

    reading_until(const descriptor& from, Buffer& buffer, std::string_view delimiter,
                  std::size_t limit) noexcept
        : request_(is_socket(from.kind()) ? recv(from, {}) : read(from, {})),
          buffer_(&buffer),
          delimiter_(delimiter),
          limit_(limit) {}

    step begin(io_request& request, std::error_code& error) noexcept {
        if (delimiter_.empty()) {
            error = std::make_error_code(std::errc::invalid_argument);
            return step::failed;
        }
        request = request_;
        size_ = buffer_->size();
        return look(request, error);
    }
    step next(io_result result, io_request& request, std::error_code& error) noexcept {
        if (result.count() == 0) {
            error = errc::end_of_stream;
            return step::failed;
        }
        size_ += result.count();
        return look(request, error);
    }
    template <class Receiver>
    void complete(Receiver&& receiver) noexcept {
        trim();
        ex::set_value(std::forward<Receiver>(receiver), found_);
    }
    void drop() noexcept { trim(); }

private:
    step look(io_request& request, std::error_code& error) noexcept {
        const std::string_view text(reinterpret_cast<const char*>(buffer_->data()), size_);
        const std::size_t at = text.find(delimiter_, searched_);
        if (at != std::string_view::npos && at + delimiter_.size() <= limit_) {
            found_ = at + delimiter_.size();
            return step::done;
        }
        if (size_ >= limit_ || at != std::string_view::npos) {
            error = std::make_error_code(std::errc::message_size);
            return step::failed;
        }
        // The delimiter may begin in the last bytes.
        const std::size_t begun = delimiter_.size() - 1;
        searched_ = size_ > begun ? size_ - begun : 0;
        return make_room(request, error);
    }
    step make_room(io_request& request, std::error_code& error) noexcept {
        constexpr std::size_t least = 512;
        const std::size_t spare = buffer_->capacity() - size_;
        const std::size_t wanted = spare > least ? spare : least;
        const std::size_t room = wanted < limit_ - size_ ? wanted : limit_ - size_;
        try {
            buffer_->resize(size_ + room);
        } catch (...) {
            error = std::make_error_code(std::errc::not_enough_memory);
            return step::failed;
        }
        request.data = buffer_->data() + size_;
        request.size = room;
        return step::call;
    }
    /// Only shrinks the buffer, which cannot fail.
    void trim() noexcept {
        if (size_ < buffer_->size()) {
            buffer_->resize(size_);
        }
    }

    io_request request_;
    Buffer* buffer_;
    std::string_view delimiter_;
    std::size_t limit_;
    std::size_t size_ = SIZE_MAX;  ///< of the bytes in the buffer, without the room behind them
    std::size_t searched_ = 0;
    std::size_t found_ = 0;
};

EDDY_EX_END
}  // namespace eddy::detail
