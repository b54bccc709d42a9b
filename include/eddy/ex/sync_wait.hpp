// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/ex/vocabulary.hpp>

#if EDDY_EX_BUILTIN

#include <eddy/ex/connect.hpp>
#include <eddy/ex/detail/error_to_exception.hpp>
#include <eddy/ex/get_scheduler.hpp>
#include <eddy/ex/run_loop.hpp>

#include <exception>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

namespace eddy::ex {

namespace detail {

struct sync_wait_env {
    run_loop* loop;
    template <one_of<get_scheduler_t, get_start_scheduler_t, get_delegation_scheduler_t> Query>
    run_loop::scheduler query(Query) const noexcept {
        return loop->get_scheduler();
    }
};

template <class Values>
struct sync_wait_state {
    run_loop loop;
    std::optional<Values> values;
    std::exception_ptr error;
};

template <class Values>
struct sync_wait_receiver {
    using receiver_concept = receiver_tag;
    sync_wait_state<Values>* state;

    template <class... Args>
    void set_value(Args&&... args) noexcept {
        try {
            state->values.emplace(static_cast<Args&&>(args)...);
        } catch (...) {
            state->error = std::current_exception();
        }
        state->loop.finish();
    }
    template <class Error>
    void set_error(Error&& error) noexcept {
        state->error = detail::error_to_exception(static_cast<Error&&>(error));
        state->loop.finish();
    }
    void set_stopped() noexcept { state->loop.finish(); }

    sync_wait_env get_env() const noexcept { return {&state->loop}; }
};

template <class List>
struct sync_wait_values : identity<std::tuple<>> {};
template <class Values>
struct sync_wait_values<type_list<Values>> : identity<Values> {};

}  // namespace detail

/// Starts a sender and drives a run_loop on this thread until the sender has completed. Returns the
/// values, or an empty optional after a stop. Throws the sender's error.
struct sync_wait_t {
    template <class Sender>
    auto operator()(Sender&& sender) const {
        using env = detail::sync_wait_env;
        if constexpr (!sender_in<Sender, env>) {
            detail::explain_sender<Sender, env>();
            return std::optional<std::tuple<>>();
        } else {
            using signatures = completion_signatures_of_t<Sender, env>;
            static_assert(detail::count_of<signatures, set_value_t> == 1,
                          "sync_wait: the sender must complete with exactly one set of values");
            using values = typename detail::sync_wait_values<
                detail::gather_t<signatures, set_value_t, detail::decayed_tuple>>::type;
            return wait<values>(static_cast<Sender&&>(sender));
        }
    }

private:
    template <class Values, class Sender>
    static std::optional<Values> wait(Sender&& sender) {
        detail::sync_wait_state<Values> state;
        auto operation =
            connect(static_cast<Sender&&>(sender), detail::sync_wait_receiver<Values>{&state});
        start(operation);
        state.loop.run();
        if (state.error) std::rethrow_exception(std::move(state.error));
        return std::move(state.values);
    }
};
inline constexpr sync_wait_t sync_wait{};

}  // namespace eddy::ex

#endif
