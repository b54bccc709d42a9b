// says: when_all: each sender must complete with at most one set of values; use
// when_all_with_variant
// SPDX-License-Identifier: Apache-2.0
#include <eddy/ex/just.hpp>
#include <eddy/ex/when_all.hpp>

namespace ex = eddy::ex;

struct twofold {
    using sender_concept = ex::sender_tag;
    template <class Self, class... Env>
    static consteval auto get_completion_signatures() {
#ifdef CORRECTED
        return ex::completion_signatures<ex::set_value_t(int)>{};
#else
        return ex::completion_signatures<ex::set_value_t(int), ex::set_value_t()>{};
#endif
    }
    template <class Receiver>
    struct operation {
        using operation_state_concept = ex::operation_state_tag;
        Receiver receiver;
        void start() & noexcept { ex::set_value(static_cast<Receiver&&>(receiver), 1); }
    };
    template <class Receiver>
    operation<Receiver> connect(Receiver receiver) const noexcept {
        return {receiver};
    }
};

int main() { auto sender = ex::when_all(twofold{}, ex::just()); }
