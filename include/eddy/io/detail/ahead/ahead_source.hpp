// SPDX-License-Identifier: Apache-2.0

// Tells an ahead_queue the type of its items, and how to get them from the kernel.
#pragma once

#include <eddy/base/config.hpp>
#include <eddy/base/error.hpp>
#include <eddy/base/unique_fd.hpp>
#include <eddy/io/detail/ahead/ahead_store.hpp>
#include <eddy/loop/lease.hpp>
#include <eddy/loop/lease_operation.hpp>
#include <eddy/loop/loop.hpp>
#include <eddy/loop/requests.hpp>

namespace eddy::detail {

struct EDDY_API connections_ahead {
    using item = unique_fd;
    using operation = io_operation;
    using store = fd_ring;
    /// An end that arrives without a waiter is forgotten: the next operation finds out whether the
    /// listener still fails.
    static constexpr bool end_is_told_once = false;

    static bool has_item(io_result result) noexcept { return bool(result); }
    static item take(operation& op) noexcept { return unique_fd(op.result().fd()); }
};

struct EDDY_API bytes_ahead {
    using item = lease;
    using operation = lease_operation;
    using store = lease_chain;
    /// The kernel reports an error once, and the end of the stream after it.
    static constexpr bool end_is_told_once = true;

    static bool has_item(io_result result) noexcept { return result && result.raw() != 0; }
    static item take(operation& op) noexcept { return op.take_lease(); }
};

}  // namespace eddy::detail
