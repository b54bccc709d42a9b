// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "abi.hpp"

#include <eddy/pollset/closure.hpp>
#include <eddy/pollset/pollset.hpp>
#include <eddy/pollset/pollset_worker.hpp>

namespace eddy::grpc_adapter {

/// A thread of gRPC in work(), as gRPC knows it.
struct worker {
    pollset_worker inside;
    bool on_its_way_out = false;  ///< runs closures, and looks for work afterwards
};

/// gRPC's pollset, in gRPC's memory. gRPC takes its lock before work(), kick() and shutdown().
class lent_pollset final {
public:
    explicit lent_pollset(gpr_mu** lock);
    lent_pollset(const lent_pollset&) = delete;
    lent_pollset& operator=(const lent_pollset&) = delete;
    ~lent_pollset();

    pollset& set() noexcept { return set_; }

    /// Polls, releases the lock, runs the closures that became due, and returns with the lock held.
    /// `published` may be null; otherwise `*published` is valid for kick() until this call returns.
    absl::Status work(worker** published, grpc_core::Timestamp deadline);
    /// Kicks `one`, or any worker if null. A worker that is about to look for work needs no kick.
    absl::Status kick(worker* one) noexcept;
    /// Shuts down: `done` is handed over when no thread is in work() and no bag holds the pollset.
    void shutdown(grpc_closure* done);

    /// Counts the bags that hold the pollset. Precondition: the lock is not held.
    void tie() noexcept;
    void untie();

private:
    void run_closures();
    void end_if_idle();

    gpr_mu mutex_;
    pollset set_;
    unsigned polling_ = 0;  ///< threads that are in the pollset
    unsigned on_their_way_out_ = 0;
    unsigned ties_ = 0;
    grpc_closure* on_shut_down_ = nullptr;
    struct : closure {
        using closure::closure;
    } drained_{[](closure&, std::error_code) {}};  // end_if_idle() has its own counts
};

}  // namespace eddy::grpc_adapter
