// says: a value or an error that this sender sends can be neither copied nor moved, and the
// adaptor must keep it
// SPDX-License-Identifier: Apache-2.0
#include <eddy/ex/continues_on.hpp>
#include <eddy/ex/inline_scheduler.hpp>
#include <eddy/ex/let_value.hpp>

#include <memory>

namespace ex = eddy::ex;

template <class Value>
struct sends {
    using sender_concept = ex::sender_tag;
    template <class Self, class... Env>
    static consteval auto get_completion_signatures() {
        return ex::completion_signatures<ex::set_value_t(Value)>{};
    }
};

int main() {
#ifdef CORRECTED
    auto sender = ex::continues_on(sends<std::unique_ptr<int>>(), ex::inline_scheduler());
#else
    auto sender = ex::continues_on(sends<const std::unique_ptr<int>&>(), ex::inline_scheduler());
#endif
}
