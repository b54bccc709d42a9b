// SPDX-License-Identifier: Apache-2.0

// Transfers that want all bytes, by as many calls as it takes. Done here for every engine: the
// kernel's own way (MSG_WAITALL) differs from call to call and exists only for sockets.
#pragma once

#include <eddy/engine/io_operation.hpp>

namespace eddy {

/// Takes note of a call's result. True: a part was moved, and the request now asks for the rest.
bool advance(io_request& request, io_result result, std::uint64_t moved_before) noexcept;

/// Performs a request by calls that block, until it is done. An error never hides bytes that were
/// moved; the request then asks for the rest. Thread: any.
io_result perform_whole(io_request& request) noexcept;

}  // namespace eddy
