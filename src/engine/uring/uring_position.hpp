// SPDX-License-Identifier: Apache-2.0
#pragma once

#if EDDY_HAS_IO_URING

#include <eddy/engine/io_operation.hpp>

namespace eddy {

/// Keeps a file's own position right while the kernel writes there. If an error cuts a write short,
/// as on a full disk, the kernel (6.18) reports how much it has written but does not move the
/// position: the rest would overwrite the beginning. So the position is read before the write and
/// set after it.
///
/// In between, the position is in the offset of the request, below -1.
struct uring_position {
    /// Reads the position before a write.
    static void remember(io_request& request) noexcept;
    /// Sets the position after a write with `result`, and restores the request.
    static void correct(io_request& request, io_result result) noexcept;
    /// Restores the request only: the write was given up, or is another process's.
    static void forget(io_request& request) noexcept;
};

}  // namespace eddy

#endif
