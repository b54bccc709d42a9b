// SPDX-License-Identifier: Apache-2.0
#include "queries.hpp"
#include "support.hpp"

#include <execution>
#include <memory>
#include <string>
#include <system_error>
#include <utility>

/// sender_to is a question, and never an error. The tables below ask it of each adaptor: with
/// receivers that lack a channel, with children that find out in the receiver's environment that
/// they were put together wrongly, and with children that cannot be connected as what they are.
namespace eddy::ex_testing::exec_sender_to {

struct never {
    using operation_state_concept = ex::operation_state_tag;
    void start() & noexcept {}
};

/// Sends `Signatures`, inside start().
template <class... Signatures>
struct sends_these {
    using sender_concept = ex::sender_tag;
    template <class Self, class... Env>
    static consteval auto get_completion_signatures() {
        return ex::completion_signatures<Signatures...>{};
    }
    template <class Receiver>
    never connect(Receiver) const noexcept {
        return {};
    }
    struct attributes {
        static constexpr ex::inline_scheduler query(
            ex::get_completion_scheduler_t<ex::set_value_t>) noexcept {
            return {};
        }
    };
    static constexpr attributes get_env() noexcept { return {}; }
};
using number = ex::set_value_t(int);
using code = ex::set_error_t(std::error_code);
using stop = ex::set_stopped_t();
using all_three = sends_these<number, code, stop>;

struct env_with_all {
    static constexpr ex::inline_scheduler query(ex::get_start_scheduler_t) noexcept { return {}; }
    static constexpr int query(get_name_t) noexcept { return 1; }
};

/// Takes what the letters say: v(alues), e(rrors), s(tops).
template <char... Letters>
struct takes {
    template <char Letter>
    static constexpr bool has = ((Letters == Letter) || ...);

    using receiver_concept = ex::receiver_tag;
    void set_value(auto&&...) noexcept
        requires(has<'v'>)
    {}
    void set_error(auto&&) noexcept
        requires(has<'e'>)
    {}
    void set_stopped() noexcept
        requires(has<'s'>)
    {}
    static constexpr env_with_all get_env() noexcept { return {}; }
};
using takes_all = takes<'v', 'e', 's'>;

template <class Sender>
inline constexpr bool needs_values = !ex::sender_to<Sender, takes<'e', 's'>>;
template <class Sender>
inline constexpr bool needs_errors = !ex::sender_to<Sender, takes<'v', 's'>>;
template <class Sender>
inline constexpr bool needs_stops = !ex::sender_to<Sender, takes<'v', 'e'>>;

/// A good receiver has all three channels, and `Sender` needs each of them.
template <class Sender>
inline constexpr bool needs_all = ex::sender_to<Sender, takes_all> && needs_values<Sender> &&
                                  needs_errors<Sender> && needs_stops<Sender>;
template <class Sender>
inline constexpr bool needs_no_stops = ex::sender_to<Sender, takes_all> && needs_values<Sender> &&
                                       needs_errors<Sender> && !needs_stops<Sender>;
template <class Sender>
inline constexpr bool needs_no_errors = ex::sender_to<Sender, takes_all> && needs_values<Sender> &&
                                        !needs_errors<Sender> && needs_stops<Sender>;

constexpr auto seq = std::execution::seq;
constexpr auto count = [](auto&&...) noexcept { return 1; };
constexpr auto just_count = [](auto&...) noexcept { return ex::just(1); };
constexpr all_three child{};
constexpr ex::inline_scheduler here{};
using token = decltype(std::declval<ex::simple_counting_scope&>().get_token());
using stopping_token = decltype(std::declval<ex::counting_scope&>().get_token());

static_assert(needs_all<all_three>);
static_assert(needs_all<decltype(child | ex::then(count))>);
static_assert(needs_no_errors<decltype(child | ex::upon_error(count))>);
static_assert(needs_no_stops<decltype(child | ex::upon_stopped(count))>);
static_assert(needs_all<decltype(child | ex::let_value(just_count))>);
static_assert(needs_no_errors<decltype(child | ex::let_error(just_count))>);
static_assert(needs_no_stops<decltype(child | ex::let_stopped(just_count))>);
static_assert(needs_no_stops<decltype(child | ex::stopped_as_optional())>);
static_assert(needs_no_stops<decltype(child | ex::stopped_as_error(std::error_code()))>);
static_assert(needs_all<decltype(child | ex::into_variant())>);
static_assert(needs_all<decltype(child | ex::bulk(seq, 2, count))>);
static_assert(needs_all<decltype(child | ex::bulk_chunked(seq, 2, count))>);
static_assert(needs_all<decltype(child | ex::bulk_unchunked(seq, 2, count))>);
static_assert(needs_all<decltype(ex::write_env(child, ex::env<>{}))>);
static_assert(needs_all<decltype(child | ex::unstoppable)>);
static_assert(needs_all<decltype(child | ex::continues_on(here))>);
static_assert(needs_all<decltype(ex::schedule_from(child))>);
static_assert(needs_all<decltype(ex::starts_on(here, child))>);
static_assert(needs_all<decltype(ex::on(here, child))>);
static_assert(needs_all<decltype(child | ex::on(here, ex::then(count)))>);
static_assert(needs_all<decltype(ex::when_all(child, ex::just()))>);
static_assert(needs_all<decltype(ex::when_all_with_variant(child, ex::just()))>);
static_assert(needs_all<decltype(ex::associate(child, std::declval<token>()))>);
static_assert(needs_all<decltype(ex::associate(child, std::declval<stopping_token>()))>);
static_assert(needs_all<decltype(ex::spawn_future(child, std::declval<token>()))>);
static_assert(needs_all<decltype(ex::spawn_future(child, std::declval<stopping_token>()))>);

// A receiver that has every channel, and takes other values and errors than the sender sends.

struct takes_text {
    using receiver_concept = ex::receiver_tag;
    void set_value(std::string) noexcept {}
    void set_error(std::exception_ptr) noexcept {}
    void set_stopped() noexcept {}
    static constexpr env_with_all get_env() noexcept { return {}; }
};
constexpr auto just_text = [](auto&...) noexcept { return ex::just(std::string()); };
constexpr auto text = [](auto&&...) noexcept { return std::string(); };
constexpr sends_these<number> value{};
static_assert(!ex::sender_to<sends_these<number>, takes_text>);
static_assert(ex::sender_to<decltype(value | ex::then(text)), takes_text>);
static_assert(!ex::sender_to<decltype(value | ex::then(count)), takes_text>);
static_assert(ex::sender_to<decltype(value | ex::let_value(just_text)), takes_text>);
static_assert(!ex::sender_to<decltype(value | ex::let_value(just_count)), takes_text>);
static_assert(!ex::sender_to<decltype(value | ex::stopped_as_optional()), takes_text>);
static_assert(!ex::sender_to<decltype(value | ex::stopped_as_error(1)), takes_text>);
static_assert(!ex::sender_to<decltype(value | ex::into_variant()), takes_text>);
static_assert(!ex::sender_to<decltype(value | ex::continues_on(here)), takes_text>);
static_assert(!ex::sender_to<decltype(ex::on(here, value)), takes_text>);
static_assert(!ex::sender_to<decltype(ex::when_all_with_variant(value)), takes_text>);
static_assert(!ex::sender_to<decltype(ex::associate(value, std::declval<token>())), takes_text>);
static_assert(!ex::sender_to<decltype(ex::spawn_future(value, std::declval<token>())), takes_text>);

// What an adaptor cannot do with the name in the environment is found out only with the receiver.

struct nameless {
    using receiver_concept = ex::receiver_tag;
    void set_value(auto&&...) noexcept {}
    void set_error(auto&&) noexcept {}
    void set_stopped() noexcept {}
    static constexpr auto get_env() noexcept {
        return ex::prop{ex::get_start_scheduler, ex::inline_scheduler{}};
    }
};
/// The name is a number, so this one needs a receiver whose environment has one.
template <class Sender>
inline constexpr bool needs_name =
    ex::sender_to<Sender, takes_all> && !ex::sender_to<Sender, nameless>;
/// Whatever the environment says, it cannot be connected.
template <class Sender>
inline constexpr bool never_connects =
    ex::sender<Sender> && !ex::sender_to<Sender, takes_all> && !ex::sender_to<Sender, nameless>;

constexpr auto name = ex::read_env(get_name);
constexpr auto of_text = [](const std::string&) noexcept { return ex::just(); };
constexpr auto of_number = [](int) noexcept { return ex::just(); };
constexpr auto of_index = [](int, int) noexcept {};
constexpr auto of_range = [](int, int, int) noexcept {};
constexpr auto of_index_and_text = [](int, const std::string&) noexcept {};
constexpr auto of_range_and_text = [](int, int, const std::string&) noexcept {};
constexpr auto fail = [](int error) noexcept { return ex::just_error(error); };

static_assert(needs_name<decltype(name)>);
static_assert(needs_name<decltype(name | ex::then(of_number))>);
static_assert(needs_name<decltype(name | ex::let_value(of_number))>);
static_assert(needs_name<decltype(name | ex::let_value(fail) | ex::let_error(of_number))>);
static_assert(needs_name<decltype(ex::just_stopped() | ex::let_stopped([] { return name; }))>);
static_assert(needs_name<decltype(name | ex::stopped_as_optional())>);
static_assert(needs_name<decltype(name | ex::stopped_as_error(1))>);
static_assert(needs_name<decltype(name | ex::into_variant())>);
static_assert(needs_name<decltype(name | ex::bulk(seq, 2, of_index))>);
static_assert(needs_name<decltype(name | ex::bulk_chunked(seq, 2, of_range))>);
static_assert(needs_name<decltype(name | ex::bulk_unchunked(seq, 2, of_index))>);
static_assert(needs_name<decltype(ex::write_env(name, ex::env<>{}))>);
static_assert(needs_name<decltype(name | ex::unstoppable)>);
static_assert(needs_name<decltype(name | ex::continues_on(here))>);
static_assert(needs_name<decltype(ex::schedule_from(name))>);
static_assert(needs_name<decltype(ex::starts_on(here, name))>);
static_assert(needs_name<decltype(ex::on(here, name))>);
static_assert(needs_name<decltype(name | ex::on(here, ex::then(count)))>);
static_assert(needs_name<decltype(ex::associate(name, std::declval<token>()))>);
static_assert(needs_name<decltype(ex::associate(name, std::declval<stopping_token>()))>);

static_assert(never_connects<decltype(name | ex::then(of_text))>);
static_assert(never_connects<decltype(name | ex::let_value(fail) | ex::upon_error(of_text))>);
static_assert(never_connects<decltype(name | ex::let_value(of_text))>);
static_assert(never_connects<decltype(name | ex::let_value(count))>, "that returns no sender");
static_assert(never_connects<decltype(name | ex::let_value(fail) | ex::let_error(of_text))>);
static_assert(never_connects<decltype(name | ex::let_value(fail) | ex::let_error(count))>);
static_assert(never_connects<decltype(name | ex::let_value([](int) { return ex::just_stopped(); }) |
                                      ex::let_stopped(of_number))>);
static_assert(never_connects<decltype(name | ex::bulk_chunked(seq, 2, of_range_and_text))>);
static_assert(never_connects<decltype(name | ex::bulk_unchunked(seq, 2, of_index_and_text))>);
static_assert(never_connects<decltype(ex::starts_on(here, name | ex::then(of_text)))>);
static_assert(never_connects<decltype(ex::on(here, name | ex::then(of_text)))>);
static_assert(never_connects<decltype(name | ex::on(here, ex::then(of_text)))>);
static_assert(never_connects<decltype(ex::when_all(name | ex::then(of_text)))>);
static_assert(never_connects<decltype(ex::when_all_with_variant(name | ex::then(of_text)))>);
static_assert(
    never_connects<decltype(ex::associate(name | ex::then(of_text), std::declval<token>()))>);

// stdexec does not compile some of these, and others only fail to compile in connect().
#if EDDY_EX_BUILTIN
static_assert(needs_name<decltype(ex::when_all(name, ex::just()))>);
static_assert(needs_name<decltype(ex::when_all_with_variant(name, ex::just()))>);
static_assert(never_connects<decltype(name | ex::let_value(fail) | ex::stopped_as_optional())>);
static_assert(never_connects<decltype(name | ex::bulk(seq, 2, of_index_and_text))>);

// The second sender of let_*.

/// Can be copied, and connected only as an rvalue.
struct used_up {
    using sender_concept = ex::sender_tag;
    template <class Self, class... Env>
    static consteval auto get_completion_signatures() {
        return ex::completion_signatures<ex::set_value_t()>{};
    }
    template <class Receiver>
    never connect(Receiver) && noexcept {
        return {};
    }
};
constexpr auto refer = [](auto&&...) noexcept -> const used_up& {
    static const used_up kept;
    return kept;
};
constexpr auto use_up = [](auto&&...) noexcept { return used_up(); };
static_assert(ex::sender_to<decltype(value | ex::let_value(use_up)), takes_all>);
static_assert(!ex::sender_to<decltype(value | ex::let_value(refer)), takes_all>);
static_assert(!ex::sender_to<decltype(ex::just_error(1) | ex::let_error(refer)), takes_all>);
static_assert(!ex::sender_to<decltype(ex::just_stopped() | ex::let_stopped(refer)), takes_all>);

// What cannot be kept.

using kept_nowhere = const std::unique_ptr<int>&;
struct unkept_name {
    using receiver_concept = ex::receiver_tag;
    void set_value(auto&&...) noexcept {}
    void set_error(auto&&) noexcept {}
    void set_stopped() noexcept {}
    struct env : env_with_all {
        static kept_nowhere query(get_name_t) noexcept;
    };
    static constexpr env get_env() noexcept { return {}; }
};
template <class Sender>
inline constexpr bool must_keep_name =
    ex::sender_to<Sender, takes_all> && !ex::sender_to<Sender, unkept_name>;
constexpr auto fail_with = [](auto&&...) noexcept {
    return sends_these<ex::set_error_t(kept_nowhere)>();
};
static_assert(ex::sender_to<decltype(name), unkept_name>);
static_assert(ex::sender_to<decltype(name | ex::then(count)), unkept_name>);
static_assert(must_keep_name<decltype(name | ex::let_value(just_count))>);
static_assert(must_keep_name<decltype(name | ex::stopped_as_optional())>);
static_assert(must_keep_name<decltype(name | ex::into_variant())>);
static_assert(must_keep_name<decltype(name | ex::continues_on(here))>);
static_assert(must_keep_name<decltype(ex::on(here, name))>);
static_assert(must_keep_name<decltype(ex::when_all(name, ex::just()))>);
static_assert(must_keep_name<decltype(ex::when_all_with_variant(name, ex::just()))>);
constexpr auto unkept_error = name | ex::let_value(fail_with);
static_assert(ex::sender_to<decltype(unkept_error), takes_all>);
static_assert(!ex::sender_to<decltype(unkept_error | ex::let_error(just_count)), takes_all>);
static_assert(!ex::sender_to<decltype(unkept_error | ex::continues_on(here)), takes_all>);
static_assert(!ex::sender_to<decltype(ex::when_all(unkept_error)), takes_all>);

// Children that can be connected in one value category only.

/// Can be copied, and connected only as a non-const lvalue.
struct kept_elsewhere : used_up {
    template <class Receiver>
    never connect(Receiver) & noexcept {
        return {};
    }
    template <class Receiver>
    never connect(Receiver) && = delete;
    template <class Receiver>
    never connect(Receiver) const& = delete;
    using attributes = all_three::attributes;
    static constexpr attributes get_env() noexcept { return {}; }
};
template <class Sender>
inline constexpr bool only_as_an_lvalue =
    ex::sender_to<Sender&, takes_all> && !ex::sender_to<Sender, takes_all> &&
    !ex::sender_to<const Sender&, takes_all>;
template <class Sender>
inline constexpr bool only_as_an_rvalue =
    ex::sender_to<Sender, takes_all> && !ex::sender_to<Sender&, takes_all> &&
    !ex::sender_to<const Sender&, takes_all>;

template <class Sender>
using associated = decltype(ex::associate(std::declval<Sender>(), std::declval<token>()));

template <template <class> class Holds, class... Adapted>
inline constexpr bool all = (Holds<Adapted>::value && ...);
template <class Child, template <class> class Holds>
inline constexpr bool for_each_adaptor =
    all<Holds, Child, decltype(std::declval<Child>() | ex::then(count)),
        decltype(std::declval<Child>() | ex::upon_error(count)),
        decltype(std::declval<Child>() | ex::upon_stopped(count)),
        decltype(std::declval<Child>() | ex::let_value(just_count)),
        decltype(std::declval<Child>() | ex::let_error(just_count)),
        decltype(std::declval<Child>() | ex::let_stopped(just_count)),
        decltype(std::declval<Child>() | ex::into_variant()),
        decltype(std::declval<Child>() | ex::bulk(seq, 2, count)),
        decltype(std::declval<Child>() | ex::bulk_chunked(seq, 2, count)),
        decltype(std::declval<Child>() | ex::bulk_unchunked(seq, 2, count)),
        decltype(ex::write_env(std::declval<Child>(), ex::env<>{})),
        decltype(std::declval<Child>() | ex::unstoppable),
        decltype(std::declval<Child>() | ex::continues_on(here)),
        decltype(ex::schedule_from(std::declval<Child>())),
        decltype(ex::when_all(std::declval<Child>(), ex::just()))>;

/// Made of other adaptors in the draft, which then hold copies of the child.
template <class Child, template <class> class Holds>
inline constexpr bool for_each_composed_adaptor =
    all<Holds, decltype(std::declval<Child>() | ex::then(count) | ex::stopped_as_optional()),
        decltype(std::declval<Child>() | ex::stopped_as_error(1)),
        decltype(ex::starts_on(here, std::declval<Child>())),
        decltype(ex::when_all_with_variant(std::declval<Child>(), ex::just()))>;

template <class Sender>
using takes_lvalues = std::bool_constant<only_as_an_lvalue<Sender>>;
template <class Sender>
using takes_rvalues = std::bool_constant<only_as_an_rvalue<Sender>>;
static_assert(for_each_adaptor<kept_elsewhere, takes_lvalues>);
static_assert(for_each_adaptor<used_up, takes_rvalues>);
using move_only = decltype(ex::just(std::unique_ptr<int>()));
static_assert(for_each_adaptor<move_only, takes_rvalues>);
static_assert(for_each_composed_adaptor<move_only, takes_rvalues>);
static_assert(for_each_composed_adaptor<kept_elsewhere, takes_lvalues>);
static_assert(for_each_composed_adaptor<used_up, takes_rvalues>);

/// Adaptors that connect a copy of the child, as an rvalue.
template <class Child, template <class> class Holds>
inline constexpr bool for_each_copying_adaptor =
    all<Holds, decltype(ex::on(here, std::declval<Child>())),
        decltype(std::declval<Child>() | ex::on(here, ex::then(count))), associated<Child>>;
template <class Sender>
using takes_both =
    std::bool_constant<ex::sender_to<Sender, takes_all> && ex::sender_to<Sender&, takes_all> &&
                       ex::sender_to<const Sender&, takes_all>>;
template <class Sender>
using takes_neither =
    std::bool_constant<!ex::sender_to<Sender, takes_all> && !ex::sender_to<Sender&, takes_all> &&
                       !ex::sender_to<const Sender&, takes_all>>;
struct used_up_here : used_up {
    static constexpr all_three::attributes get_env() noexcept { return {}; }
};
static_assert(for_each_copying_adaptor<used_up_here, takes_both>);
static_assert(for_each_copying_adaptor<kept_elsewhere, takes_neither>);
static_assert(for_each_copying_adaptor<move_only, takes_rvalues>);
#endif

}  // namespace eddy::ex_testing::exec_sender_to
