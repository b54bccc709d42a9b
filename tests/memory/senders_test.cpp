// SPDX-License-Identifier: Apache-2.0
#include "support/with_every_allocation_failing.hpp"

#include <eddy/ex/execution.hpp>
#include <eddy/ex/vocabulary.hpp>

#include <gtest/gtest.h>

#include <system_error>

namespace eddy::test::memory_senders {

namespace {

#if EDDY_EX_BUILTIN

/// Completes with an error at once.
struct refused {
    using sender_concept = ex::sender_tag;
    template <class Receiver>
    struct operation {
        using operation_state_concept = ex::operation_state_tag;
        Receiver receiver;

        void start() & noexcept {
            ex::set_error(static_cast<Receiver&&>(receiver),
                          std::make_error_code(std::errc::connection_refused));
        }
    };

    template <class, class...>
    static consteval auto get_completion_signatures() {
        return ex::completion_signatures<ex::set_value_t(), ex::set_error_t(std::error_code)>();
    }
    template <class Receiver>
    operation<Receiver> connect(Receiver receiver) const {
        return {static_cast<Receiver&&>(receiver)};
    }
};

TEST(MemoryOfSenders, AnErrorOfSyncWaitIsThrownOrALackOfMemoryIs) {
    with_every_allocation_failing([] {
        try {
            ex::sync_wait(refused());
            return false;
        } catch (const std::system_error& e) {
            return e.code() == std::errc::connection_refused;
        }
    });
}

#endif

}  // namespace
}  // namespace eddy::test::memory_senders
