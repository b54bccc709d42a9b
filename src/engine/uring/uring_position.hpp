// SPDX-License-Identifier: Apache-2.0
#pragma once

#if EDDY_HAS_IO_URING

#include <eddy/engine/io_operation.hpp>

namespace eddy {

/// The own position of a file that is written. If a write is cut by an error, as on a full disk,
/// the kernel (6.18) says how much it has written, but leaves the position where it was: the rest
/// would be written over the beginning. So the position is asked for before, and set right then.
///
/// Meanwhile it is in the offset of the request, below -1.
struct uring_position {
    static void remember(io_request& request) noexcept;
    /// `result`: of the write, whose request is as before again.
    static void correct(io_request& request, io_result result) noexcept;
    /// The same without a look at the file: the write is another process's.
    static void forget(io_request& request) noexcept;
};

}  // namespace eddy

#endif
