// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "support/printable.hpp"

#include <eddy/async/async.hpp>
#include <eddy/io/file.hpp>
#include <eddy/io/send_file.hpp>
#include <eddy/io/tcp/socket.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <new>
#include <stdexcept>
#include <string>
#include <system_error>

namespace example {

/// Prints why the answer with a file broke off, unless the peer ended it or was too slow.
inline void say_unless_the_peer(const std::string& path, const std::exception& failure) {
    if (const auto* const error = dynamic_cast<const std::system_error*>(&failure)) {
        for (const std::errc theirs : {std::errc::connection_reset, std::errc::broken_pipe,
                                       std::errc::connection_aborted, std::errc::timed_out}) {
            if (error->code() == theirs) return;
        }
    }
    std::fprintf(stderr, "broke off %s: %s\n", printable(path).c_str(), failure.what());
}

inline eddy::task<> send_pieces(eddy::tcp::socket& peer, const eddy::file& file,
                                const std::string& path, std::int64_t size,
                                eddy::duration patience) try {
    constexpr std::int64_t piece = 1 << 20;
    for (std::int64_t at = 0; at < size;) {
        const auto count = static_cast<std::size_t>(std::min(piece, size - at));
        const auto sent = co_await eddy::timeout(send_file(peer, file, at, count), patience);
        if (sent == 0) throw std::runtime_error("the file has become shorter");
        at += static_cast<std::int64_t>(sent);
    }
} catch (const std::exception& e) {
    say_unless_the_peer(path, e);
    throw;
}

/// Sends the first `size` bytes of a file, as the head has announced, in pieces with `patience` for
/// each. Throws if that fails, and prints the reason unless it is the peer's.
inline eddy::task<> send_content(eddy::tcp::socket& peer, const eddy::file& file,
                                 const std::string& path, std::int64_t size,
                                 eddy::duration patience) try {
    return send_pieces(peer, file, path, size, patience);
} catch (const std::bad_alloc& e) {  // there is no memory for the task
    say_unless_the_peer(path, e);
    throw;
}

}  // namespace example
