// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/base/config.hpp>

#include <cstddef>

namespace eddy::detail {

/// Memory for what lives briefly and ends on another thread than it began on, in about the order in
/// which it began: posted callables. A general allocator pays for each of them to go back.
///
/// A piece is cut from a block of its thread, and the block is freed as a whole when the last of
/// its pieces is: one that stays for long keeps its block.
///
/// Thread: any. Alignment: that of std::max_align_t. Throws std::bad_alloc.
EDDY_API void* brief_new(std::size_t size);
/// `size`: what it was made with.
EDDY_API void brief_delete(void* piece, std::size_t size) noexcept;

}  // namespace eddy::detail
