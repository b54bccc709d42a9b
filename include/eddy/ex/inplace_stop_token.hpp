// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/ex/vocabulary.hpp>

#if EDDY_EX_BUILTIN

#include <eddy/base/config.hpp>
#include <eddy/ex/detail/meta.hpp>

#include <pthread.h>

#include <atomic>
#include <concepts>
#include <type_traits>
#include <utility>

namespace eddy::ex {

class inplace_stop_source;
template <class Callback>
class inplace_stop_callback;

/// A token that tells whether its source has requested a stop. Thread: any. Lifetime: the source
/// must outlive all uses.
class inplace_stop_token {
public:
    template <class Callback>
    using callback_type = inplace_stop_callback<Callback>;

    inplace_stop_token() = default;
    bool stop_requested() const noexcept;
    bool stop_possible() const noexcept { return source_ != nullptr; }
    void swap(inplace_stop_token& other) noexcept { std::swap(source_, other.source_); }
    bool operator==(const inplace_stop_token&) const = default;

private:
    friend class inplace_stop_source;
    template <class>
    friend class inplace_stop_callback;
    explicit inplace_stop_token(inplace_stop_source* source) noexcept : source_(source) {}

    inplace_stop_source* source_ = nullptr;
};

namespace detail {

/// A registered callback, as a node in its source's list.
///
///     linked  --request_stop takes it-->  running  --returns-->  done
///     linked  --deregister-->  out
///
/// `link_` is the pointer to this node while the node is linked, else null.
class stop_callback_node : immovable {
public:
    explicit stop_callback_node(void (*call)(stop_callback_node&) noexcept) noexcept
        : call_(call) {}

private:
    friend class ::eddy::ex::inplace_stop_source;
    stop_callback_node* next_ = nullptr;
    stop_callback_node** link_ = nullptr;
    void (*const call_)(stop_callback_node&) noexcept;
};

}  // namespace detail

/// A stop state without allocations and without shared ownership. Thread: any.
/// Lifetime: must outlive its callbacks, and every call of request_stop() by other threads. A
/// callback may end the work that owns the source, and so destroy the source.
class inplace_stop_source : detail::immovable {
public:
    inplace_stop_source() = default;
    ~inplace_stop_source() {
        if (gone_ != nullptr) *gone_ = true;
    }

    inplace_stop_token get_token() const noexcept {
        return inplace_stop_token(const_cast<inplace_stop_source*>(this));
    }
    bool stop_requested() const noexcept {
        // acquire: pairs with request_stop(), so that the caller sees all that preceded the
        // request.
        return (state_.load(std::memory_order_acquire) & requested) != 0;
    }

    /// Requests the stop and calls all callbacks. False if a stop was requested before.
    EDDY_API bool request_stop() noexcept;

private:
    template <class>
    friend class inplace_stop_callback;
    enum : unsigned { requested = 1, locked = 2 };

    /// Links `node`. False if a stop was requested before; `node` is then not linked.
    [[nodiscard]] EDDY_API bool enlist(detail::stop_callback_node& node) noexcept;
    /// Unlinks `node`. On return its callback is not running, unless the callback made this call.
    EDDY_API void deregister(detail::stop_callback_node& node) noexcept;

    // Defined and used only in the source file.
    static inline void unlink(detail::stop_callback_node& node) noexcept;
    /// Sets the state to `wanted`, which includes `locked`. False if a stop was requested before.
    [[nodiscard]] inline bool lock_unless_requested(unsigned wanted) noexcept;
    /// Takes the lock. Returns the state before, without `locked`.
    inline unsigned lock() noexcept;
    inline void unlock(unsigned state) noexcept;

    std::atomic<unsigned> state_{0};
    detail::stop_callback_node* first_ = nullptr;  // guarded by the lock
    pthread_t requester_{};  // guarded by the lock, valid while a callback runs
    bool* gone_ = nullptr;   // the requester's alone; set if a callback destroys the source
    std::atomic<detail::stop_callback_node*> running_{nullptr};
};

inline bool inplace_stop_token::stop_requested() const noexcept {
    return source_ != nullptr && source_->stop_requested();
}

/// Calls `Callback` when the stop is requested: inside request_stop(), or inside the constructor if
/// the stop was requested before. The destructor waits for a running call on another thread.
template <class Callback>
class inplace_stop_callback : detail::stop_callback_node {
    static_assert(std::invocable<Callback>,
                  "inplace_stop_callback: it is called without arguments");

public:
    template <class Init>
        requires std::constructible_from<Callback, Init>
    explicit inplace_stop_callback(inplace_stop_token token, Init&& init) noexcept(
        std::is_nothrow_constructible_v<Callback, Init>)
        : detail::stop_callback_node(&call), callback_(static_cast<Init&&>(init)) {
        if (token.source_ == nullptr) return;
        // Set before enlist(), because from then on another thread may call the callback.
        source_ = token.source_;
        if (!source_->enlist(*this)) {
            source_ = nullptr;
            static_cast<Callback&&>(callback_)();
        }
    }
    // In a std::optional, g++ 12 does not see that the flag tells if there is an object to destroy.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
    ~inplace_stop_callback() {
        if (source_ != nullptr) source_->deregister(*this);
    }
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

private:
    static void call(detail::stop_callback_node& node) noexcept {
        auto& self = static_cast<inplace_stop_callback&>(node);
        static_cast<Callback&&>(self.callback_)();
    }

    inplace_stop_source* source_ = nullptr;
    [[no_unique_address]] Callback callback_;
};
template <class Callback>
inplace_stop_callback(inplace_stop_token, Callback) -> inplace_stop_callback<Callback>;

}  // namespace eddy::ex

#endif
