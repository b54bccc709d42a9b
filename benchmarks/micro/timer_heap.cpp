// SPDX-License-Identifier: Apache-2.0
// The timer heap alone, and the bare heap that the timer suite compares with, from 1,000 to a
// million timers: how the cost grows.

#include <eddy/intrusive/timer_heap.hpp>

#include <benchmark/benchmark.h>

#include <cstdlib>
#include <vector>

#include "common/program.hpp"
#include "timer/heap.hpp"

namespace {

/// Both heaps behind the same words.
class eddy_heap {
public:
    using node = eddy::timer_node;

    void reserve(std::size_t count) {
        while (count-- > 0) {
            if (!heap_.reserve()) std::abort();
        }
    }
    void insert(node& n, std::int64_t deadline) { heap_.insert(n, deadline); }
    void remove(node& n) { heap_.erase(n); }
    void move_later(node& n, std::int64_t deadline) { heap_.move(n, deadline); }

private:
    eddy::timer_heap heap_;
};

/// So many timers with deadlines in no order.
template <class Heap>
class filled {
public:
    explicit filled(std::int64_t count) : nodes_(static_cast<std::size_t>(count)) {
        heap_.reserve(nodes_.size());
        for (auto& n : nodes_) heap_.insert(n, deadline());
    }
    ~filled() {
        for (auto& n : nodes_) heap_.remove(n);
    }

    std::int64_t deadline() { return 1'000'000 + random_.below(1'000'000'000); }
    auto& any_node() { return nodes_[random_.below(static_cast<unsigned>(nodes_.size()))]; }
    Heap& heap() { return heap_; }

private:
    bench::random_numbers random_;
    std::vector<typename Heap::node> nodes_;
    Heap heap_;
};

template <class Heap>
void cancel_and_set(benchmark::State& state) {
    filled<Heap> timers(state.range(0));
    for (auto _ : state) {
        auto& n = timers.any_node();
        timers.heap().remove(n);
        timers.heap().insert(n, timers.deadline());
    }
}
BENCHMARK(cancel_and_set<bench::heap>)->RangeMultiplier(10)->Range(1'000, 1'000'000);
BENCHMARK(cancel_and_set<eddy_heap>)->RangeMultiplier(10)->Range(1'000, 1'000'000);

template <class Heap>
void push_back(benchmark::State& state) {
    filled<Heap> timers(state.range(0));
    std::int64_t later = 2'000'000'000;
    for (auto _ : state) timers.heap().move_later(timers.any_node(), ++later);
}
BENCHMARK(push_back<bench::heap>)->RangeMultiplier(10)->Range(1'000, 1'000'000);
BENCHMARK(push_back<eddy_heap>)->RangeMultiplier(10)->Range(1'000, 1'000'000);

}  // namespace
