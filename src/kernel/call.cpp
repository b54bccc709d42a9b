// SPDX-License-Identifier: Apache-2.0

// Counts system calls, and injects the faults that tests plan.
#include "kernel/call.hpp"

#include <array>
#include <atomic>
#include <utility>

namespace eddy::kernel {

constinit thread_local std::uint64_t detail::calls = 0;

#ifdef EDDY_FAULTS
namespace {

constexpr auto relaxed = std::memory_order_relaxed;

/// Takes one from a counter that several threads may use. False if the counter is 0.
bool take_one(std::atomic<unsigned>& counter) noexcept {
    unsigned value = counter.load(relaxed);
    while (value != 0 && !counter.compare_exchange_weak(value, value - 1, relaxed)) {}
    return value != 0;
}

/// One planned fault. relaxed throughout: a test sets a plan before the calls that it affects, or
/// while any order will do.
struct plan {
    std::atomic<std::size_t> value{0};
    std::atomic<unsigned> skip{0};
    std::atomic<unsigned> times{0};
    std::atomic<std::uint64_t> fired{0};

    void set(std::size_t to, unsigned after, unsigned count) noexcept {
        value.store(to, relaxed);
        skip.store(after, relaxed);
        times.store(count, relaxed);
    }
    bool fires() noexcept {
        const bool yes = !take_one(skip) && take_one(times);
        fired.fetch_add(yes ? 1 : 0, relaxed);
        return yes;
    }
};
using plans = std::array<plan, static_cast<std::size_t>(call::count_)>;

plans failures;
plans cuts;
std::atomic<bool> any_plan{false};
thread_local bool held_off = false;

plan& of(plans& all, call which) noexcept { return all[static_cast<std::size_t>(which)]; }

}  // namespace

void fail(call which, int error, unsigned skip, unsigned times) noexcept {
    of(failures, which).set(static_cast<std::size_t>(error), skip, times);
    any_plan.store(true, relaxed);
}

void shorten(call which, std::size_t to, unsigned skip, unsigned times) noexcept {
    of(cuts, which).set(to, skip, times);
    any_plan.store(true, relaxed);
}

void fail_nothing() noexcept {
    for (plans* all : {&failures, &cuts}) {
        for (plan& one : *all) {
            one.set(0, 0, 0);
            one.fired.store(0, relaxed);
        }
    }
    any_plan.store(false, relaxed);
}

std::uint64_t fired(call which) noexcept {
    return of(failures, which).fired.load(relaxed) + of(cuts, which).fired.load(relaxed);
}

std::uint64_t fired() noexcept {
    std::uint64_t all = 0;
    for (std::size_t i = 0; i != failures.size(); ++i) {
        all += fired(static_cast<call>(i));
    }
    return all;
}

bool faults_are_planned() noexcept { return any_plan.load(relaxed) && !held_off; }

faults_held_off::faults_held_off() noexcept : outer_(std::exchange(held_off, true)) {}

faults_held_off::~faults_held_off() { held_off = outer_; }

int injected(call which) noexcept {
    if (!faults_are_planned()) {
        return 0;
    }
    plan& failure = of(failures, which);
    return failure.fires() ? static_cast<int>(failure.value.load(relaxed)) : 0;
}

std::size_t shortened(call which, std::size_t size) noexcept {
    if (!faults_are_planned()) {
        return size;
    }
    plan& cut = of(cuts, which);
    const std::size_t to = cut.value.load(relaxed);
    return size > to && cut.fires() ? to : size;
}
#else
void fail(call, int, unsigned, unsigned) noexcept {}
void shorten(call, std::size_t, unsigned, unsigned) noexcept {}
void fail_nothing() noexcept {}
std::uint64_t fired() noexcept { return 0; }
std::uint64_t fired(call) noexcept { return 0; }
#endif

}  // namespace eddy::kernel
