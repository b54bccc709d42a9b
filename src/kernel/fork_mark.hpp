// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

namespace eddy::kernel {

/// A number that identifies this process. A child made by fork() gets another number. Reading it is
/// one load, from a page that the kernel wipes on fork.
/// Thread: any.
std::uint64_t process_mark() noexcept;

/// The cell that holds process_mark(): 0 in a child that has not asked for it yet. Lives for ever.
const std::atomic<std::uint64_t>& process_mark_cell() noexcept;

}  // namespace eddy::kernel
