// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/ex/vocabulary.hpp>
#include <eddy/io/detail/stream/whole.hpp>
#include <eddy/io/file.hpp>
#include <eddy/io/io_sender.hpp>
#include <eddy/io/socket.hpp>
#include <eddy/loop/requests.hpp>

#include <cstddef>
#include <cstdint>

namespace eddy {
EDDY_EX_BEGIN

/// Sends `count` bytes of a file, starting at `offset`, without copying them through this process.
/// Value: the number of bytes sent; fewer at the end of the file, or if stopped on the way. The
/// file must stay open until the operation has completed. If the file belongs to another loop, call
/// this on that loop's thread, or while that loop does not run.
///
///     file page = co_await file::open(loop, "index.html", O_RDONLY);
///     std::uint64_t size = 0;
///     if (!page.size(size)) { co_await send_file(socket, page, 0, size); }
inline auto send_file(const stream_socket& to, const file& from, std::int64_t offset,
                      std::size_t count) noexcept {
    using convert = detail::whole<direction::out>;
    return io_sender<convert>(
        to.home(), eddy::send_file(to.get_descriptor(), from.native_handle(), offset, count),
        convert(count));
}

EDDY_EX_END
}  // namespace eddy
