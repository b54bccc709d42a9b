#pragma once

namespace eddy::detail {

/// Lets other threads run that are ready. The room `kernel` defines it, because only that room
/// makes system calls.
void yield() noexcept;

}  // namespace eddy::detail
