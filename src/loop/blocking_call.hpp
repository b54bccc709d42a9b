// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/base/error.hpp>
#include <eddy/intrusive/operation.hpp>
#include <eddy/loop/entry.hpp>
#include <eddy/loop/loop.hpp>

#include <memory>

namespace eddy {

/// A blocking call on its way to the user's executor and back.
struct loop::blocking_call : queue_node {
    blocking_call() noexcept : queue_node(node_kind::io_returned) {}

    void send_back(io_result how) noexcept;

    loop* home = nullptr;
    io_operation* operation = nullptr;
    /// The request, with copies of what it refers to: the loop's originals may change meanwhile.
    io_request request;
    fd_slot slot;
    io_result result;
    entry job;
    std::unique_ptr<blocking_call> next_free;
    blocking_call* next_away = nullptr;
    blocking_call* prev_away = nullptr;
};

}  // namespace eddy
