// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "support/crash_reporter.hpp"
#include "support/fds.hpp"
#include "support/memory_faults.hpp"

#include <cstdint>
#include <exception>
#include <new>
#include <string>
#include <system_error>
#include <utility>

#include <gtest/gtest.h>

namespace eddy::test {

/// One allocation that fails, or one and all after it.
struct memory_fault {
    std::uint64_t nth;
    memory_faults::how often;

    void begin(memory_faults& faults) const noexcept { faults.begin(nth, often); }
    std::string words() const {
        return "allocation " + std::to_string(nth) + " fails" +
               (often == memory_faults::how::once ? "" : ", and so do all after it");
    }
};

/// Calls `round(memory_fault)` with 1, 2, 3, ... until it returns false: no allocation has failed.
template <class Round>
void for_every_allocation(Round round) {
    constexpr std::uint64_t many = 10000;
    for (const auto often : {memory_faults::how::once, memory_faults::how::from_then_on}) {
        bool failed = true;
        for (memory_fault fault{1, often}; failed; ++fault.nth) {
            SCOPED_TRACE(fault.words());
            failed = round(fault);
            ASSERT_FALSE(::testing::Test::HasFailure());
            ASSERT_LT(fault.nth, many) << "the scenario does not come to an end";
            ASSERT_TRUE(failed || fault.nth != 1) << "the scenario allocates nothing";
        }
    }
}

/// Runs `bool scenario()` once for each allocation in it, which fails, and all after it too. It may
/// throw std::bad_alloc or a std::system_error that says so then, or return false. After each time
/// the scenario must succeed, and no memory and no descriptor may be lost.
template <class Scenario>
void with_every_allocation_failing(Scenario scenario) {
    memory_faults& faults = own_memory_faults();
    // What is kept for later is there after the first times.
    ASSERT_TRUE(scenario());
    ASSERT_TRUE(scenario());
    for_every_allocation([&](const memory_fault& fault) {
        const crash_reporter reporter(fault.words());
        const std::int64_t blocks = faults.live.load();
        const std::size_t fds = open_fds();
        std::exception_ptr thrown;
        fault.begin(faults);
        try {
            static_cast<void>(scenario());
        } catch (const std::bad_alloc&) {
        } catch (...) {
            thrown = std::current_exception();
        }
        const bool failed = faults.end();
        try {
            if (thrown) {
                std::rethrow_exception(std::exchange(thrown, nullptr));
            }
        } catch (const std::system_error& e) {
            EXPECT_EQ(e.code(), std::errc::not_enough_memory) << e.what();
        }
        EXPECT_TRUE(scenario()) << "it does not succeed afterwards";
        EXPECT_EQ(faults.live.load(), blocks) << "memory is lost";
        EXPECT_EQ(open_fds(), fds) << "descriptors are lost";
        return failed;
    });
}

}  // namespace eddy::test
