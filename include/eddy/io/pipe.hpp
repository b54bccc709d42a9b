// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/ex/vocabulary.hpp>
#include <eddy/io/detail/connect/socket_calls.hpp>
#include <eddy/io/stream.hpp>

#include <utility>

namespace eddy {
EDDY_EX_BEGIN

/// The two ends of a pipe.
///
///     auto [reader, writer] = make_pipe(loop);
///     co_await writer.write(bytes("hello"));
struct pipe_ends {
    stream reader;
    stream writer;
};

/// Makes a pipe with both ends on `home`. Throws std::system_error.
inline pipe_ends make_pipe(loop& home) {
    unique_fd reader;
    unique_fd writer;
    detail::throw_if(detail::open_pipe(reader, writer), "make_pipe");
    return {stream(home, std::move(reader), {.kind = descriptor_kind::pipe}),
            stream(home, std::move(writer), {.kind = descriptor_kind::pipe})};
}

EDDY_EX_END
}  // namespace eddy
