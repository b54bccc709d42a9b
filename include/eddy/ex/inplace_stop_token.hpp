#pragma once

#include <eddy/ex/vocabulary.hpp>

#if EDDY_EX_BUILTIN

#include <eddy/ex/detail/meta.hpp>

#include <pthread.h>
#include <sched.h>

#include <atomic>
#include <concepts>
#include <type_traits>
#include <utility>

namespace eddy::ex {
inline namespace builtin {

class inplace_stop_source;
template <class Callback>
class inplace_stop_callback;

/// Thread: any. Lifetime: the source must outlive its tokens' use.
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

/// A node in its source's list.
///
///     linked  --request_stop takes it-->  running  --returns-->  done
///     linked  --deregister-->  out
///
/// `link_` is the pointer that points here while it is linked, else null.
class stop_callback_node : immovable {
public:
    explicit stop_callback_node(void (*call)(stop_callback_node&) noexcept) noexcept
        : call_(call) {}

private:
    friend class ::eddy::ex::builtin::inplace_stop_source;
    stop_callback_node* next_ = nullptr;
    stop_callback_node** link_ = nullptr;
    void (*const call_)(stop_callback_node&) noexcept;
};

}  // namespace detail

/// A stop state that allocates nothing and shares nothing. Thread: any.
/// Lifetime: it must outlive its callbacks, and every call of request_stop() by other threads. A
/// callback may end the work that owns the source, and so destroy it.
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
        // acquire: pairs with request_stop(); who sees the request sees what came before it.
        return (state_.load(std::memory_order_acquire) & requested) != 0;
    }

    /// True for the one call that made the request; that one has called all callbacks.
    bool request_stop() noexcept {
        if (!lock_and_request()) return false;
        requester_ = pthread_self();
        bool gone = false;
        gone_ = &gone;
        while (detail::stop_callback_node* const node = first_) {
            unlink(*node);
            // relaxed: read again only under the lock, or by the thread that stores it here.
            running_.store(node, std::memory_order_relaxed);
            unlock(requested);
            node->call_(*node);
            // The node is not touched any more: it may be gone, and so may the source.
            if (gone) return true;
            // release: pairs with deregister(), which returns then.
            running_.store(nullptr, std::memory_order_release);
            running_.notify_all();
            lock();
        }
        gone_ = nullptr;
        unlock(requested);
        return true;
    }

private:
    template <class>
    friend class inplace_stop_callback;
    enum : unsigned { requested = 1, locked = 2 };

    /// False: a stop was requested before, and `node` is not linked.
    [[nodiscard]] bool enlist(detail::stop_callback_node& node) noexcept {
        if (!lock_unless_requested(locked)) return false;
        node.next_ = first_;
        node.link_ = &first_;
        if (first_ != nullptr) first_->link_ = &node.next_;
        first_ = &node;
        unlock(0);
        return true;
    }

    /// On return the callback is not running, unless it is this call that it runs in.
    void deregister(detail::stop_callback_node& node) noexcept {
        const unsigned before = lock();
        if (node.link_ != nullptr) {
            unlink(node);
            unlock(before);
            return;
        }
        const bool inside = running_.load(std::memory_order_relaxed) == &node &&
                            pthread_equal(requester_, pthread_self()) != 0;
        unlock(before);
        if (inside) return;
        // acquire: pairs with the store after the call. The address cannot run a second time: it
        // is `node`'s until this returns.
        while (running_.load(std::memory_order_acquire) == &node) {
            running_.wait(&node, std::memory_order_acquire);
        }
    }

    static void unlink(detail::stop_callback_node& node) noexcept {
        *node.link_ = node.next_;
        if (node.next_ != nullptr) node.next_->link_ = node.link_;
        node.link_ = nullptr;
    }

    [[nodiscard]] bool lock_and_request() noexcept {
        return lock_unless_requested(locked | requested);
    }

    /// Sets the state to `wanted`, which has `locked`.
    [[nodiscard]] bool lock_unless_requested(unsigned wanted) noexcept {
        // acquire throughout: who finds the request goes on as after stop_requested().
        unsigned seen = state_.load(std::memory_order_acquire);
        for (spin wait;;) {
            if ((seen & requested) != 0) return false;
            if ((seen & locked) != 0) {
                wait.once();
                seen = state_.load(std::memory_order_acquire);
                // acquire: pairs with unlock(). release: pairs with stop_requested().
            } else if (state_.compare_exchange_weak(seen, wanted, std::memory_order_acq_rel,
                                                    std::memory_order_acquire)) [[likely]] {
                return true;
            }
        }
    }

    /// The state before, without `locked`.
    unsigned lock() noexcept {
        unsigned seen = state_.load(std::memory_order_relaxed);
        for (spin wait;;) {
            if ((seen & locked) != 0) {
                wait.once();
                seen = state_.load(std::memory_order_relaxed);
                // acquire: pairs with unlock().
            } else if (state_.compare_exchange_weak(seen, seen | locked, std::memory_order_acquire,
                                                    std::memory_order_relaxed)) {
                return seen;
            }
        }
    }

    void unlock(unsigned state) noexcept {
        state_.store(state, std::memory_order_release);  // pairs with the lock functions
    }

    /// The lock is held for a few pointer writes; only a preempted holder is worth a yield.
    struct spin {
        int tries = 0;
        void once() noexcept {
            if (++tries > 32) sched_yield();
        }
    };

    std::atomic<unsigned> state_{0};
    detail::stop_callback_node* first_ = nullptr;  // under the lock
    pthread_t requester_{};                        // under the lock, valid while one runs
    bool* gone_ = nullptr;  // the requester's alone; set if the source is destroyed in a callback
    std::atomic<detail::stop_callback_node*> running_{nullptr};
};

inline bool inplace_stop_token::stop_requested() const noexcept {
    return source_ != nullptr && source_->stop_requested();
}

/// Calls `Callback` when the stop is requested: inside request_stop(), or inside the constructor if
/// the request came before. The destructor waits until a call on another thread has returned.
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
        // Set before, because once enlisted another thread may be calling.
        source_ = token.source_;
        if (!source_->enlist(*this)) {
            source_ = nullptr;
            static_cast<Callback&&>(callback_)();
        }
    }
    // In a std::optional, g++ 12 does not see that the flag says whether there is one to destroy.
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

}  // namespace builtin
}  // namespace eddy::ex

#endif
