// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "support.hpp"

#include <utility>

namespace eddy::ex_testing {

/// Starts join() and says whether it has completed.
template <class Scope>
class joiner {
    struct receiver {
        using receiver_concept = ex::receiver_tag;
        joiner* self;
        void set_value() noexcept { self->joined = true; }
        void set_stopped() noexcept {}
        auto get_env() const noexcept {
            return ex::prop{ex::get_start_scheduler, ex::inline_scheduler{}};
        }
    };
    ex::connect_result_t<decltype(std::declval<Scope&>().join()), receiver> operation_;

public:
    explicit joiner(Scope& scope) : operation_(ex::connect(scope.join(), receiver{this})) {
        ex::start(operation_);
    }
    bool joined = false;
};

}  // namespace eddy::ex_testing
