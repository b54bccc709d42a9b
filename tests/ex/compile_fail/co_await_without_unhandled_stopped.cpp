// says: co_await: the coroutine's promise has no unhandled_stopped()
// SPDX-License-Identifier: Apache-2.0
#include <eddy/ex/as_awaitable.hpp>
#include <eddy/ex/just.hpp>

#include <coroutine>

namespace ex = eddy::ex;

struct promise {
#ifdef CORRECTED
    std::coroutine_handle<> unhandled_stopped() noexcept { return std::noop_coroutine(); }
#endif
};

int main() {
    promise awaiting;
    auto&& awaitable = ex::as_awaitable(ex::just(1), awaiting);
}
