// SPDX-License-Identifier: Apache-2.0

// Allocates and frees the frames of tasks, and stores the memory resource behind each frame.
#include <eddy/async/detail/task/task_frame.hpp>

#include <cstring>
#include <new>

namespace eddy::detail {

void* task_frame::allocate(std::size_t size, std::pmr::memory_resource* with) {
    void* const frame =
        with == nullptr ? ::operator new(size + sizeof with) : with->allocate(size + sizeof with);
    std::memcpy(static_cast<std::byte*>(frame) + size, &with, sizeof with);
    return frame;
}

void task_frame::operator delete(void* frame, std::size_t size) noexcept {
    std::pmr::memory_resource* with = nullptr;
    std::memcpy(&with, static_cast<std::byte*>(frame) + size, sizeof with);
    if (with == nullptr) {
        ::operator delete(frame, size + sizeof with);
    } else {
        with->deallocate(frame, size + sizeof with);
    }
}

}  // namespace eddy::detail
