// SPDX-License-Identifier: Apache-2.0
// The ready queue alone.

#include <eddy/intrusive/ready_queue.hpp>
#include <eddy/loop/entry.hpp>

#include <benchmark/benchmark.h>

#include <memory>

namespace {

/// A batch is pushed and popped, spread over so many priorities.
void push_and_pop(benchmark::State& state) {
    constexpr unsigned batch = 256;
    const auto priorities = static_cast<unsigned>(state.range(0));
    const auto entries = std::make_unique<eddy::entry[]>(batch);
    for (unsigned i = 0; i < batch; ++i) {
        entries[i].set_priority(static_cast<eddy::priority_level>(i % priorities));
    }
    eddy::ready_queue queue;
    for (auto _ : state) {
        for (unsigned i = 0; i < batch; ++i) queue.push(entries[i]);
        while (!queue.empty()) benchmark::DoNotOptimize(&queue.pop());
    }
    state.SetItemsProcessed(state.iterations() * batch);
}
BENCHMARK(push_and_pop)->Arg(1)->Arg(2)->Arg(64);

}  // namespace
