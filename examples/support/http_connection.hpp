// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "support/http_requests.hpp"

#include <eddy/async/async.hpp>
#include <eddy/io/bytes.hpp>
#include <eddy/io/file.hpp>
#include <eddy/io/tcp/socket.hpp>

#include <chrono>
#include <cstdint>
#include <string>

namespace example {

/// A connection that serves the files of a directory.
struct connection {
    /// Time limit for a whole request to arrive, and for each piece of an answer to be sent.
    static constexpr auto patience = std::chrono::seconds(10);

    eddy::tcp::socket peer;
    const eddy::file& root;
    http_requests requests{};
    bool answering = false;  ///< a part of the answer may have been sent
};

inline eddy::task<> send_head(connection& c, int status, std::int64_t size) {
    const std::string head = c.requests.answer(status, size);
    c.answering = true;
    co_await eddy::timeout(c.peer.write(eddy::bytes(head)), c.patience);
}

}  // namespace example
