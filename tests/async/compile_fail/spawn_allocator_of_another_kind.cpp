// says: this sender tells of an allocator that is no memory resource
// SPDX-License-Identifier: Apache-2.0
#include <eddy/async/async.hpp>

namespace ex = eddy::ex;

template <class T>
struct arena_allocator : std::allocator<T> {};

struct in_arena {
    using sender_concept = ex::sender_tag;
    template <class Self, class... Env>
    static consteval auto get_completion_signatures() noexcept {
        return ex::completion_signatures<ex::set_value_t()>();
    }
    template <ex::receiver Receiver>
    auto connect(Receiver receiver) const noexcept {
        return ex::connect(ex::just(), std::move(receiver));
    }
    auto get_env() const noexcept {
        return ex::prop(ex::get_allocator, arena_allocator<std::byte>());
    }
};

eddy::task<> parent() {
#ifdef CORRECTED
    eddy::spawn(*eddy::loop::current(),
                [](in_arena sender) -> eddy::task<> { co_await std::move(sender); }(in_arena()));
#else
    eddy::spawn(*eddy::loop::current(), in_arena());
#endif
    co_return;
}
