// says: on: the environment has no start scheduler
// SPDX-License-Identifier: Apache-2.0
#include <eddy/ex/inline_scheduler.hpp>
#include <eddy/ex/just.hpp>
#include <eddy/ex/on.hpp>

namespace ex = eddy::ex;

struct receiver {
    using receiver_concept = ex::receiver_tag;
    void set_value() noexcept {}
#ifdef CORRECTED
    auto get_env() const noexcept {
        return ex::prop{ex::get_start_scheduler, ex::inline_scheduler{}};
    }
#endif
};

int main() { auto operation = ex::connect(ex::on(ex::inline_scheduler{}, ex::just()), receiver{}); }
