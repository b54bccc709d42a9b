// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/ex/detail/stop_callback.hpp>
#include <eddy/ex/inplace_stop_token.hpp>

#include <pthread.h>

#include <atomic>
#include <concepts>

namespace eddy::detail {

EDDY_EX_BEGIN

/// Provides the stop token of a receiver, of any type, as an inplace_stop_token. `Owner` contains
/// this, and has finish(), which completes the operation.
template <class Receiver, class Owner>
class stop_source_for {
public:
    ex::inplace_stop_token arm(const Receiver& receiver, Owner& owner) noexcept {
        owner_ = &owner;
        link_.arm(receiver, *this);
        return source_.get_token();
    }
    /// False if this is called inside a stop request. Some vocabularies do not allow their stop
    /// source to be destroyed there, so owner.finish() is called at the end of that request.
    [[nodiscard]] bool disarm() noexcept {
        // relaxed: a thread looks only for its own store.
        if (pthread_equal(requester_.load(std::memory_order_relaxed), pthread_self()) != 0) {
            ended_inside_ = true;
            return false;
        }
        link_.disarm();
        return true;
    }
    void request_stop() noexcept {
        requester_.store(pthread_self(), std::memory_order_relaxed);
        source_.request_stop();
        requester_.store(pthread_t(), std::memory_order_relaxed);
        if (ended_inside_) {
            owner_->finish();
        }
    }

private:
    Owner* owner_ = nullptr;
    std::atomic<pthread_t> requester_{};
    bool ended_inside_ = false;  ///< only the requester's thread uses it
    ex::inplace_stop_source source_;
    stop_callback<Receiver, stop_source_for> link_;
};

template <class Receiver, class Owner>
    requires std::same_as<ex::stop_token_of_t<ex::env_of_t<Receiver>>, ex::inplace_stop_token>
class stop_source_for<Receiver, Owner> {
public:
    ex::inplace_stop_token arm(const Receiver& receiver, Owner&) noexcept {
        return ex::get_stop_token(ex::get_env(receiver));
    }
    [[nodiscard]] bool disarm() noexcept { return true; }
};

template <class Receiver, class Owner>
    requires(!can_be_stopped<Receiver>)
class stop_source_for<Receiver, Owner> {
public:
    ex::inplace_stop_token arm(const Receiver&, Owner&) noexcept { return {}; }
    [[nodiscard]] bool disarm() noexcept { return true; }
};

EDDY_EX_END

}  // namespace eddy::detail
