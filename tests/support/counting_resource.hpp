// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <new>

namespace eddy::test {

/// Counts what is taken from it, and gives no more than it is told to.
class counting_resource : public std::pmr::memory_resource {
public:
    explicit counting_resource(std::size_t limit = SIZE_MAX) : limit_(limit) {}

    std::size_t taken() const noexcept { return taken_; }
    std::size_t in_use() const noexcept { return in_use_; }

private:
    void* do_allocate(std::size_t size, std::size_t alignment) override {
        if (taken_ == limit_) {
            throw std::bad_alloc();
        }
        ++taken_;
        ++in_use_;
        return std::pmr::new_delete_resource()->allocate(size, alignment);
    }
    void do_deallocate(void* memory, std::size_t size, std::size_t alignment) override {
        --in_use_;
        std::pmr::new_delete_resource()->deallocate(memory, size, alignment);
    }
    bool do_is_equal(const memory_resource& other) const noexcept override {
        return this == &other;
    }

    std::size_t limit_;
    std::size_t taken_ = 0;
    std::size_t in_use_ = 0;
};

}  // namespace eddy::test
