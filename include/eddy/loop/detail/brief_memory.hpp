// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/base/config.hpp>

#include <cstddef>

namespace eddy::detail {

/// Allocates memory for short-lived objects that end on another thread, in about the order in which
/// they began: posted callables. A general allocator pays for each object's way back.
///
/// Each piece is cut from a block of the calling thread. A block is freed as a whole when its last
/// piece is freed, so a piece that stays for long keeps its block.
///
/// Thread: any. Alignment: that of std::max_align_t. Throws std::bad_alloc.
EDDY_API void* brief_new(std::size_t size);
/// Frees a piece. `size` is the argument of its brief_new(). Thread: any.
EDDY_API void brief_delete(void* piece, std::size_t size) noexcept;

}  // namespace eddy::detail
