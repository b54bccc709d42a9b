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

/// Reads until `delimiter` is in `buffer`, a std::string or a std::vector of char or std::byte,
/// which may have bytes from before in it. Value: how many bytes there are up to and including the
/// first delimiter. What came behind it stays in the buffer for the next time.
///
///     std::string buffer;
///     std::size_t n = co_await read_until(socket, buffer, "\r\n", 8192);
///     std::string line = buffer.substr(0, n);
///     buffer.erase(0, n);
///
/// Errors: `message_size` if the first `limit` bytes have no delimiter, `errc::end_of_stream` if
/// the stream ends before, `not_enough_memory`, `invalid_argument` for an empty delimiter. Then,
/// and if it is stopped, what was read is in the buffer, which never grows beyond the limit.
///
/// Lifetime: buffer and delimiter until it has completed.
template <class Buffer>
auto read_until(const stream& from, Buffer& buffer, std::string_view delimiter,
                std::size_t limit) noexcept {
    using steps = detail::reading_until<Buffer>;
    return detail::steps_sender<steps>(from.home(),
                                       steps(from.get_descriptor(), buffer, delimiter, limit));
}

EDDY_EX_END
}  // namespace eddy
