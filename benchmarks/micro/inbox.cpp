// SPDX-License-Identifier: Apache-2.0
// The inbox alone: what a post costs without the loop around it.

#include <eddy/intrusive/inbox.hpp>
#include <eddy/loop/entry.hpp>

#include <benchmark/benchmark.h>

#include <memory>

namespace {

/// One thread pushes a batch and takes it back: the price without any contention.
void push_and_take(benchmark::State& state) {
    const auto batch = static_cast<std::size_t>(state.range(0));
    const auto entries = std::make_unique<eddy::entry[]>(batch);
    eddy::inbox inbox;
    for (auto _ : state) {
        for (std::size_t i = 0; i < batch; ++i) benchmark::DoNotOptimize(inbox.push(entries[i]));
        benchmark::DoNotOptimize(inbox.take());
    }
    state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(push_and_take)->Arg(1)->Arg(16)->Arg(256);

/// What a loop pays in each turn for looking into an empty inbox.
void take_nothing(benchmark::State& state) {
    eddy::inbox inbox;
    for (auto _ : state) benchmark::DoNotOptimize(inbox.take());
}
BENCHMARK(take_nothing);

}  // namespace
