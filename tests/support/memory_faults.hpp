// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

/// Allocations that fail on demand. The functions that do so replace malloc() and its relatives,
/// and mmap(): in a test program that is built with tests/memory/failing_malloc.cpp, or in any
/// program that the library of that source is preloaded into.
namespace eddy::test {

/// Shared by the replaced functions and the test, which may be two processes.
///
/// Thread: any.
struct memory_faults {
    enum class how : std::uint8_t { once, from_then_on };

    /// Counts from here on; the `nth` allocation fails.
    void begin(std::uint64_t nth, how often) noexcept {
        failed.store(0);
        made.store(0);
        last.store(often == how::once ? nth : UINT64_MAX);
        first.store(nth);
    }
    void stop_failing() noexcept { first.store(UINT64_MAX); }
    /// Stops, and says whether an allocation has failed.
    bool end() noexcept {
        stop_failing();
        return failed.load() != 0;
    }

    /// Called for each allocation. True: it is to fail.
    bool next_fails() noexcept {
        const std::uint64_t begin = first.load(std::memory_order_relaxed);
        if (begin == UINT64_MAX) {
            return false;
        }
        const std::uint64_t number = made.fetch_add(1) + 1;
        if (number < begin || number > last.load()) {
            return false;
        }
        failed.fetch_add(1);
        return true;
    }

    std::atomic<std::uint64_t> first{UINT64_MAX};
    std::atomic<std::uint64_t> last{0};
    std::atomic<std::uint64_t> made{0};
    std::atomic<std::uint64_t> failed{0};
    std::atomic<std::int64_t> live{0};  ///< blocks and mappings that nobody has given back
};

/// An environment variable: the number of a descriptor of memory that holds a memory_faults.
inline constexpr const char* memory_faults_variable = "EDDY_TEST_MEMORY_FAULTS";

/// Those of this process.
memory_faults& own_memory_faults() noexcept;

/// While it lives, the allocations of this thread neither fail nor count: they are the test's.
class allocations_of_test {
public:
    allocations_of_test() noexcept;
    ~allocations_of_test();
    allocations_of_test(const allocations_of_test&) = delete;
    allocations_of_test& operator=(const allocations_of_test&) = delete;
};

}  // namespace eddy::test
