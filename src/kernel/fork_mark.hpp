// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

namespace eddy::kernel {

/// A number that is the same for as long as this is the same process, and another one in a child
/// that fork() made. Reading it is a load: it lives in a page that the kernel wipes on fork.
/// Thread: any.
std::uint64_t process_mark() noexcept;

/// Where that number is: 0 in a child in which nobody has asked for it yet. Lives for ever.
const std::atomic<std::uint64_t>& process_mark_cell() noexcept;

}  // namespace eddy::kernel
