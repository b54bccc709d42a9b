// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "abi.hpp"

#include <eddy/pollset/closure.hpp>
#include <eddy/pollset/pollset.hpp>
#include <eddy/pollset/pollset_worker.hpp>

namespace eddy::grpc_adapter {

/// A thread of gRPC's in work(), as gRPC knows it.
struct worker {
    pollset_worker inside;
    bool on_its_way_out = false;  ///< it runs closures, and will look for itself afterwards
};

/// gRPC's pollset, in memory that gRPC provides, with a lock that it takes before work(), kick()
/// and shutdown().
class lent_pollset final {
public:
    explicit lent_pollset(gpr_mu** lock);
    lent_pollset(const lent_pollset&) = delete;
    lent_pollset& operator=(const lent_pollset&) = delete;
    ~lent_pollset();

    pollset& set() noexcept { return set_; }

    /// Polls, frees the lock, runs what became due and returns with the lock. `published` may be
    /// null; else it is valid for kick() until this returns.
    absl::Status work(worker** published, grpc_core::Timestamp deadline);
    /// Null: any one. A thread that is about to look for itself need not be kicked.
    absl::Status kick(worker* one) noexcept;
    /// `done` is handed over when no thread is in work() and no bag holds it.
    void shutdown(grpc_closure* done);

    /// A bag holds it. Not under the lock.
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
    } drained_{[](closure&, std::error_code) {}};  // end_if_idle() knows by its own counts
};

}  // namespace eddy::grpc_adapter
