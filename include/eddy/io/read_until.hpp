// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/ex/vocabulary.hpp>
#include <eddy/io/detail/sender/steps.hpp>
#include <eddy/io/detail/stream/reading_until.hpp>
#include <eddy/io/stream.hpp>

#include <cstddef>
#include <string_view>

namespace eddy {
EDDY_EX_BEGIN

/// Reads until `buffer` contains `delimiter`. The buffer is a std::string or a std::vector of char
/// or std::byte, and may already hold bytes. Value: the number of bytes up to and including the
/// first delimiter. Bytes behind the delimiter stay in the buffer for the next call.
///
///     std::string buffer;
///     std::size_t n = co_await read_until(socket, buffer, "\r\n", 8192);
///     std::string line = buffer.substr(0, n);
///     buffer.erase(0, n);
///
/// Errors: `message_size` if the first `limit` bytes contain no delimiter, `errc::end_of_stream` if
/// the stream ends first, `not_enough_memory`, `invalid_argument` for an empty delimiter. After an
/// error or a stop the buffer holds everything that was read. It never grows beyond `limit`.
///
/// Lifetime: buffer and delimiter must live until the operation has completed.
template <class Buffer>
auto read_until(const stream& from, Buffer& buffer, std::string_view delimiter,
                std::size_t limit) noexcept {
    using steps = detail::reading_until<Buffer>;
    return detail::steps_sender<steps>(from.home(),
                                       steps(from.get_descriptor(), buffer, delimiter, limit));
}

EDDY_EX_END
}  // namespace eddy
