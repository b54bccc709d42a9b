// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/ex/execution.hpp>

#include <optional>
#include <string>
#include <system_error>
#include <type_traits>
#include <utility>
#include <vector>

/// What the tests of the vocabulary share. Nothing here or in them names anything that one of the
/// three vocabularies lacks.
namespace eddy::ex_testing {

namespace ex = eddy::ex;

// Signatures are compared as sets, and set_value_t(int) means the same as set_value_t(int&&): the
// vocabularies order and write them differently.

template <class Signature>
struct normal;
template <class Tag, class... Args>
struct normal<Tag(Args...)> {
    using type = Tag(Args&&...);
};

template <class Signature, class List>
inline constexpr bool holds = false;
template <class Signature, class... Signatures>
inline constexpr bool holds<Signature, ex::completion_signatures<Signatures...>> =
    (std::is_same_v<typename normal<Signature>::type, typename normal<Signatures>::type> || ...);

template <class List, class... Expected>
inline constexpr bool same = false;
template <class... Actual, class... Expected>
inline constexpr bool same<ex::completion_signatures<Actual...>, Expected...> =
    (holds<Expected, ex::completion_signatures<Actual...>> && ...) &&
    (holds<Actual, ex::completion_signatures<Expected...>> && ...);

/// `Sender` completes in `Env` in these ways and no other.
template <class Sender, class Env, class... Expected>
inline constexpr bool sends_in = same<ex::completion_signatures_of_t<Sender, Env>, Expected...>;
template <class Sender, class... Expected>
inline constexpr bool sends = sends_in<Sender, ex::env<>, Expected...>;

using stoppable_env = ex::prop<ex::get_stop_token_t, ex::inplace_stop_token>;

/// How an operation ended.
struct outcome {
    std::string channel = "none";
    std::vector<int> numbers;
    std::error_code code;
    int completions = 0;
};

template <class Env = ex::env<>>
struct probe {
    using receiver_concept = ex::receiver_tag;
    outcome* seen;
    Env environment{};

    template <class... Values>
    void set_value(Values&&... values) noexcept {
        end("value");
        (note(values), ...);
    }
    template <class Error>
    void set_error(Error&& error) noexcept {
        end("error");
        if constexpr (std::is_same_v<std::decay_t<Error>, std::error_code>) seen->code = error;
        note(error);
    }
    void set_stopped() noexcept { end("stopped"); }
    const Env& get_env() const noexcept { return environment; }

private:
    void end(const char* channel) {
        seen->channel = channel;
        ++seen->completions;
    }
    template <class T>
    void note(const T& value) {
        if constexpr (std::is_same_v<T, int>) seen->numbers.push_back(value);
    }
};

template <class Sender, class Env = ex::env<>>
outcome run(Sender&& sender, Env env = {}) {
    outcome seen;
    auto operation = ex::connect(std::forward<Sender>(sender), probe<Env>{&seen, env});
    ex::start(operation);
    return seen;
}

/// Something that the test ends by hand: write it as users of all vocabularies would.
class manual_event {
    struct waiting {
        virtual void value(int number) noexcept = 0;
        virtual void error(std::error_code code) noexcept = 0;
        virtual void stop() noexcept = 0;

    protected:
        ~waiting() = default;
    };

public:
    class sender;

    bool started() const noexcept { return waiting_ != nullptr; }
    void value(int number) noexcept { std::exchange(waiting_, nullptr)->value(number); }
    void error(std::error_code code) noexcept { std::exchange(waiting_, nullptr)->error(code); }
    void stop() noexcept { std::exchange(waiting_, nullptr)->stop(); }
    /// The operation was asked to stop; if `obeys_`, it has.
    bool stop_seen() const noexcept { return stop_seen_; }
    sender wait() noexcept;
    /// It notes requests to stop, but the test decides when it ends.
    void disobey() noexcept { obeys_ = false; }

private:
    waiting* waiting_ = nullptr;
    bool stop_seen_ = false;
    bool obeys_ = true;
};

class manual_event::sender {
    template <class Receiver>
    class operation final : waiting {
        struct on_stop {
            operation* self;
            void operator()() noexcept {
                self->event_->stop_seen_ = true;
                if (self->event_->obeys_ && self->event_->waiting_ == self) self->event_->stop();
            }
        };
        using token = ex::stop_token_of_t<ex::env_of_t<Receiver>>;

    public:
        using operation_state_concept = ex::operation_state_tag;
        operation(manual_event* event, Receiver receiver) noexcept
            : event_(event), receiver_(std::move(receiver)) {}
        operation(operation&&) = delete;

        void start() & noexcept {
            if (ex::get_stop_token(ex::get_env(receiver_)).stop_requested() && event_->obeys_) {
                event_->stop_seen_ = true;
                ex::set_stopped(std::move(receiver_));
                return;
            }
            event_->waiting_ = this;
            callback_.emplace(ex::get_stop_token(ex::get_env(receiver_)), on_stop{this});
        }

    private:
        void value(int number) noexcept override {
            callback_.reset();
            ex::set_value(std::move(receiver_), number);
        }
        void error(std::error_code code) noexcept override {
            callback_.reset();
            ex::set_error(std::move(receiver_), code);
        }
        void stop() noexcept override {
            callback_.reset();
            ex::set_stopped(std::move(receiver_));
        }

        manual_event* event_;
        Receiver receiver_;
        std::optional<ex::stop_callback_for_t<token, on_stop>> callback_;
    };

public:
    using sender_concept = ex::sender_tag;
    template <class Self, class... Env>
    static consteval auto get_completion_signatures() {
        return ex::completion_signatures<ex::set_value_t(int), ex::set_error_t(std::error_code),
                                         ex::set_stopped_t()>{};
    }
    template <ex::receiver Receiver>
    auto connect(Receiver receiver) const noexcept {
        return operation<Receiver>(event_, std::move(receiver));
    }

    explicit sender(manual_event* event) noexcept : event_(event) {}

private:
    manual_event* event_;
};

inline manual_event::sender manual_event::wait() noexcept { return sender(this); }

/// Throws when it is copied or moved for the n-th time.
struct fragile {
    fragile(int moves_left, int number) : left(moves_left), value(number) {}
    fragile(fragile&& other) : left(other.left - 1), value(other.value) { check(); }
    fragile(const fragile& other) : left(other.left - 1), value(other.value) { check(); }
    void check() const {
        if (left < 0) throw 42;
    }
    int left;
    int value;
};

}  // namespace eddy::ex_testing
