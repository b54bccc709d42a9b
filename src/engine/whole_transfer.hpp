// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/engine/io_operation.hpp>

/// Transfers that want all of it, by as many calls as that takes. Done for each engine here,
/// because the kernel's own way (MSG_WAITALL) differs from call to call and exists for sockets
/// only.
namespace eddy {

/// A call for the request had this result. True: it has moved a part and wants the rest, and the
/// request now asks for that.
bool advance(io_request& request, io_result result, std::uint64_t moved_before) noexcept;

/// Performs the request by calls that block, until it is done. Bytes that were moved are never lost
/// behind an error; the request asks for the rest then. Thread: any.
io_result perform_whole(io_request& request) noexcept;

}  // namespace eddy
