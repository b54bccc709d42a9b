// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/engine/io_operation.hpp>

#include <cstddef>
#include <cstdint>
#include <system_error>
#include <vector>

namespace eddy {

/// Results of multishot operations that were not delivered yet: one wait can bring many results of
/// one operation. Each operation has a chain of them, oldest first, in one array for all. (The
/// first result of a receive waits in the operation itself, see uring_engine.)
class result_pool {
public:
    static constexpr std::uint32_t none = UINT32_MAX;

    /// Makes room for `count` more results.
    std::error_code grow(std::size_t count) noexcept;
    void clear() noexcept;

    bool full() const noexcept { return free_ == none; }
    bool unused() const noexcept { return used_ == 0; }

    /// Adds a result to a chain. Precondition: the pool is not full.
    void append(record_chain& to, std::int32_t result) noexcept;
    /// Takes the oldest result of a chain. Precondition: there is one.
    std::int32_t take(record_chain& from) noexcept;

private:
    struct record {
        std::int32_t result;
        std::uint32_t next;
    };

    std::vector<record> records_;
    std::uint32_t free_ = none;
    std::size_t used_ = 0;
};

inline void result_pool::append(record_chain& to, std::int32_t result) noexcept {
    const std::uint32_t index = free_;
    free_ = records_[index].next;
    ++used_;
    records_[index] = {result, none};
    if (to.first != none) {
        records_[to.last].next = index;
    } else {
        to.first = index;
    }
    to.last = index;
}

inline std::int32_t result_pool::take(record_chain& from) noexcept {
    const std::uint32_t index = from.first;
    const record taken = records_[index];
    from.first = taken.next;
    records_[index].next = free_;
    free_ = index;
    --used_;
    return taken.result;
}

}  // namespace eddy
