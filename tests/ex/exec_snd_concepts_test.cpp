#include "support.hpp"

#include <tuple>
#include <variant>

namespace eddy::ex_testing::exec_snd_concepts {

struct never {
    using operation_state_concept = ex::operation_state_tag;
    void start() & noexcept {}
};

struct simple_sender {
    using sender_concept = ex::sender_tag;
    template <class Self, class... Env>
    static consteval auto get_completion_signatures() {
        return ex::completion_signatures<ex::set_value_t(int, double), ex::set_value_t(),
                                         ex::set_error_t(std::error_code), ex::set_stopped_t()>{};
    }
    template <class Receiver>
    never connect(Receiver) const noexcept {
        return {};
    }
};

/// What it sends depends on whether it can be stopped.
struct dependent_sender {
    using sender_concept = ex::sender_tag;
    template <class Self, class Env>
    static consteval auto get_completion_signatures() {
        if constexpr (ex::unstoppable_token<ex::stop_token_of_t<Env>>) {
            return ex::completion_signatures<ex::set_value_t()>{};
        } else {
            return ex::completion_signatures<ex::set_value_t(), ex::set_stopped_t()>{};
        }
    }
    template <class Receiver>
    never connect(Receiver) const noexcept {
        return {};
    }
};

struct untagged_sender : simple_sender {
    using sender_concept = void;
};
struct immovable_sender : simple_sender {
    immovable_sender(immovable_sender&&) = delete;
};

static_assert(ex::sender<simple_sender>);
static_assert(ex::sender<const simple_sender&>);
static_assert(!ex::sender<untagged_sender>);
static_assert(!ex::sender<immovable_sender>);
static_assert(!ex::sender<int>);

static_assert(ex::sender_in<simple_sender>);
static_assert(ex::sender_in<simple_sender, ex::env<>>);
static_assert(!ex::sender_in<dependent_sender>, "nothing is known without an environment");
static_assert(ex::sender_in<dependent_sender, ex::env<>>);
static_assert(sends<dependent_sender, ex::set_value_t()>);
static_assert(sends_in<dependent_sender, stoppable_env, ex::set_value_t(), ex::set_stopped_t()>);

static_assert(ex::sender_to<simple_sender, probe<>>);
struct deaf {
    using receiver_concept = ex::receiver_tag;
    void set_value() noexcept {}
};
static_assert(!ex::sender_to<simple_sender, deaf>);
static_assert(ex::sender_to<dependent_sender, deaf>);

template <class...>
struct pack {};
template <class T>
inline constexpr int size = 0;
template <class... Ts>
inline constexpr int size<pack<Ts...>> = sizeof...(Ts);

static_assert(size<ex::value_types_of_t<simple_sender, ex::env<>, pack, pack>> == 2);
static_assert(
    std::is_same_v<ex::error_types_of_t<simple_sender, ex::env<>, pack>, pack<std::error_code>>);
static_assert(ex::sends_stopped<simple_sender, ex::env<>>);
static_assert(!ex::sends_stopped<dependent_sender, ex::env<>>);
static_assert(ex::sends_stopped<dependent_sender, stoppable_env>);

using values = ex::value_types_of_t<simple_sender>;
static_assert(std::is_constructible_v<values, std::tuple<int, double>>);
static_assert(std::is_constructible_v<values, std::tuple<>>);

static_assert(same<decltype(ex::get_completion_signatures<dependent_sender, ex::env<>>()),
                   ex::set_value_t()>);

}  // namespace eddy::ex_testing::exec_snd_concepts
