// SPDX-License-Identifier: Apache-2.0
// Coroutines that return at once, awaited by asio's coroutine. (Operations that complete inside
// their initiation would be closer to a ready sender, but a million of them overflow the stack.)

#include <asio.hpp>

#include "await/harness.hpp"

namespace {

asio::awaitable<std::uint64_t> ready_one() { co_return 1; }

asio::awaitable<void> sum_of(unsigned count, std::uint64_t& sum) {
    for (unsigned i = 0; i < count; ++i) sum += co_await ready_one();
}

struct asio_coroutine {
    static std::uint64_t await_ready_ones(unsigned count) {
        asio::io_context context(1);
        std::uint64_t sum = 0;
        asio::co_spawn(context, sum_of(count, sum), asio::detached);
        context.run();
        return sum;
    }
};

}  // namespace

int main(int argc, char** argv) { return bench::await_main<asio_coroutine>(argc, argv); }
