// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/ex/vocabulary.hpp>

#if EDDY_EX_BUILTIN

#include <eddy/ex/get_stop_token.hpp>
#include <eddy/ex/write_env.hpp>

namespace eddy::ex {

/// Hides stop requests from a sender.
struct unstoppable_t : sender_adaptor_closure<unstoppable_t> {
    template <sender Sender>
    constexpr auto operator()(Sender&& sender) const {
        return write_env(static_cast<Sender&&>(sender), prop{get_stop_token, never_stop_token{}});
    }
};
inline constexpr unstoppable_t unstoppable{};

}  // namespace eddy::ex

#endif
