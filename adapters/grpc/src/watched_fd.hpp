// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "abi.hpp"

#include <eddy/pollset/closure.hpp>
#include <eddy/pollset/poll_handle.hpp>

#include <array>
#include <atomic>
#include <vector>

namespace eddy::grpc_adapter {

/// gRPC's handle of a descriptor. It is made by `new`, and orphan() is its end.
class watched_fd final {
public:
    watched_fd(int number, const char* name);
    watched_fd(const watched_fd&) = delete;
    watched_fd& operator=(const watched_fd&) = delete;

    int number() const noexcept { return number_; }
    poll_handle& handle() noexcept { return handle_; }

    /// Hands `call` over at the next event of this kind. Precondition: no call waits for one.
    void notify_on(poll_event_kind kind, grpc_closure* call);
    void make_ready(poll_event_kind kind) noexcept { handle_.make_ready(kind); }

    /// Ends all present and later waits with `why`. The first call decides.
    void shutdown(absl::Status why);
    bool is_shut_down() const noexcept { return handle_.is_shut_down(); }
    /// Closes the descriptor, or stores it in `*release_to` if that is not null.
    void orphan(grpc_closure* on_done, int* release_to, const char* reason);

private:
    struct wait final : closure {
        explicit wait(watched_fd& f) noexcept;

        watched_fd& owner;
        grpc_closure* call = nullptr;
    };
    struct end final : closure {
        explicit end(watched_fd& f) noexcept;

        watched_fd& owner;
        grpc_closure* on_done = nullptr;
    };

    ~watched_fd();
    bool decide_end(absl::Status why);

    int number_;
    poll_handle handle_;
    std::array<wait, 3> waits_;
    end end_;
    std::atomic<bool> end_decided_{false};
    absl::Status why_;  ///< reason of the end: written once, before the handle is shut down
    grpc_iomgr_object object_{};
    std::vector<bag*> bags_;  ///< the bags that it is in; guarded by their lock

    friend class bag;
};

}  // namespace eddy::grpc_adapter
