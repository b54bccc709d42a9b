#pragma once

#include <cstdint>

namespace eddy::kernel {

/// A number that is the same for as long as this is the same process, and another one in a child
/// that fork() made. Reading it is a load: it lives in a page that the kernel wipes on fork.
/// Thread: any.
std::uint64_t process_mark() noexcept;

}  // namespace eddy::kernel
