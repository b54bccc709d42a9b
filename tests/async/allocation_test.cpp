// SPDX-License-Identifier: Apache-2.0
#include "loop/allocations.hpp"
#include "support/engine_fixture.hpp"

#include <eddy/async/async.hpp>
#include <eddy/ex/just.hpp>
#include <eddy/ex/then.hpp>
#include <eddy/ex/when_all.hpp>
#include <eddy/io/run.hpp>

namespace eddy::test::allocation_test {
namespace {

class AsyncAllocation : public EngineTest {};
EDDY_ON_EVERY_ENGINE(AsyncAllocation);

TEST_P(AsyncAllocation, NothingIsAllocatedInSteadyState) {
    event happened;
    event never_set;
    async_mutex mutex;
    semaphore permits(0);
    channel<int> numbers(0);
    rate_limiter limiter({.tokens = 1, .per = 10us, .burst = 1});
    auto held = mutex.try_lock();
    const auto let_go = [&](auto&&...) noexcept {
        happened.set();
        permits.release();
        held.unlock();
    };
    const auto keep = [&](async_mutex::guard guard) noexcept { held = std::move(guard); };
    const auto is_failure = [](std::error_code) noexcept { return true; };
    int round = 0;
    std::uint64_t before = 0;
    const auto all_of_it = [&] {
        if (++round == 10) before = allocations();
        happened.reset();
        return ex::when_all(timeout(happened.wait(), 1h),
                            when_any(happened.wait(), never_set.wait()),
                            mutex.lock() | ex::then(keep), permits.acquire(),
                            numbers.receive() | ex::then([](int) noexcept {}), numbers.send(1),
                            limiter.acquire(), finally(permits.acquire(), ex::just()),
                            retry([&] { return numbers.receive(); }, {}, is_failure) |
                                ex::then([](int) noexcept {}),
                            numbers.send(2), loop().get_scheduler().schedule() | ex::then(let_go),
                            loop().get_scheduler().schedule_after(1us) | ex::then(let_go)) |
               ex::then([&]() noexcept { return round == 1000; });
    };
    loop().run(repeat_until(all_of_it));
    EXPECT_EQ(round, 1000);
    EXPECT_EQ(allocations() - before, 0U);
}

}  // namespace
}  // namespace eddy::test::allocation_test
