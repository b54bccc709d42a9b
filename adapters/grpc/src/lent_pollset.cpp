// SPDX-License-Identifier: Apache-2.0

// Lets gRPC's threads work on a pollset, and runs gRPC's closures after that.
#include "lent_pollset.hpp"

#include "domain.hpp"

#include <eddy/base/clock.hpp>

#include <chrono>
#include <cstdint>
#include <limits>
#include <utility>

namespace eddy::grpc_adapter {

namespace {

/// The pollset whose closures this thread runs: kicks from inside them are for this thread itself.
thread_local const lent_pollset* running_for = nullptr;

struct lockable {
    gpr_mu* mutex;

    void lock() { gpr_mu_lock(mutex); }
    void unlock() { gpr_mu_unlock(mutex); }
};

time_point to_time_point(grpc_core::Timestamp t) {
    using limits = std::numeric_limits<std::int64_t>;
    if (t.millis == limits::max()) {
        return never;
    }
    if (t.millis == limits::min()) {
        return time_point::min();
    }
    // gRPC's monotonic clock is the steady one.
    const gpr_timespec at = t.as_timespec(GPR_CLOCK_MONOTONIC);
    if (at.tv_sec >= limits::max() / std::nano::den) {
        return never;
    }
    return time_point(std::chrono::seconds(at.tv_sec) + std::chrono::nanoseconds(at.tv_nsec));
}

}  // namespace

lent_pollset::lent_pollset(gpr_mu** lock) : set_(domain()) {
    gpr_mu_init(&mutex_);
    *lock = &mutex_;
}

lent_pollset::~lent_pollset() { gpr_mu_destroy(&mutex_); }

absl::Status lent_pollset::work(worker** published, grpc_core::Timestamp deadline) {
    worker self;
    if (published != nullptr) {
        *published = &self;
    }
    lockable lock{&mutex_};
    ++polling_;
    const result<work_end> end = set_.work(lock, self.inside, to_time_point(deadline));
    --polling_;
    self.on_its_way_out = true;
    ++on_their_way_out_;
    run_closures();
    --on_their_way_out_;
    if (published != nullptr) {
        *published = nullptr;
    }
    end_if_idle();
    return to_status(end.error(), "pollset_work");
}

void lent_pollset::run_closures() {
    grpc_core::Timestamp::thread_local_time_source_->InvalidateCache();  // it may have waited
    const auto* const outer = std::exchange(running_for, this);
    gpr_mu_unlock(&mutex_);
    grpc_core::ExecCtx::exec_ctx_->Flush();
    gpr_mu_lock(&mutex_);
    running_for = outer;
}

absl::Status lent_pollset::kick(worker* one) noexcept {
    if (one != nullptr) {
        if (!one->on_its_way_out) {
            // An error means that the worker has left the pollset and only waits for this lock.
            set_.kick(one->inside);
        }
    } else if (running_for != this && (polling_ > 0 || on_their_way_out_ == 0)) {
        set_.kick_any();
    }
    return absl::OkStatus();
}

void lent_pollset::shutdown(grpc_closure* done) {
    on_shut_down_ = done;
    set_.shutdown(drained_);
    end_if_idle();
}

void lent_pollset::end_if_idle() {
    if (on_shut_down_ != nullptr && polling_ == 0 && on_their_way_out_ == 0 && ties_ == 0) {
        hand_over(std::exchange(on_shut_down_, nullptr));
    }
}

void lent_pollset::tie() noexcept {
    gpr_mu_lock(&mutex_);
    ++ties_;
    gpr_mu_unlock(&mutex_);
}

void lent_pollset::untie() {
    gpr_mu_lock(&mutex_);
    --ties_;
    end_if_idle();
    gpr_mu_unlock(&mutex_);
}

}  // namespace eddy::grpc_adapter
