// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/base/assert.hpp>
#include <eddy/engine/io_operation.hpp>
#include <eddy/loop/lease.hpp>
#include <eddy/loop/loop.hpp>
#include <eddy/loop/requests.hpp>

#include <cstdint>

namespace eddy {

/// An I/O operation for one use, started on the loop's thread, that only the loop's end can stop.
/// The base of what tasks await, as stoppable_io is of senders; it needs fewer checks.
///
/// Thread: the loop's, while it runs.
class own_io : public io_operation {
public:
    /// Says if the completion of a receive must take its lease (`taken`), or may call
    /// loop::take_lease() (`left`).
    enum class lease_is : std::uint8_t { left, taken };

    /// `request` must not be multishot, and its descriptor belongs to the loop of the start.
    own_io(callback on_complete, const io_request& request, lease_is how) noexcept
        : io_operation(on_complete, request) {
        EDDY_ASSERT(!request.multishot, "a multishot operation is not made for one use");
        takes_lease_ = how == lease_is::taken;
    }

    /// Returns the request, which may be changed while the operation is not pending.
    io_request& mutable_request() noexcept { return request_; }

    /// Starts the operation. The completion may be called inside this call, at any depth: it must
    /// not go deeper.
    void start(loop& home) noexcept { home.start_made(*this); }

    /// Starts a receive, or a recv of at least one byte, if it only has to wait for data.
    /// False: nothing was done; call start().
    [[nodiscard]] bool wait_for_data(loop& home) noexcept { return home.wait_for_data(*this); }

    bool takes_lease() const noexcept { return takes_lease_; }
    /// Takes the buffer of a receive with lease_is::taken, inside its completion.
    lease take_lease() noexcept { return loop::lease_of(*this); }

    /// Makes the call of a recv or send at once, without an operation, if it has nothing to wait
    /// for. False: nothing was moved; start an operation (always on io_uring, and while the loop
    /// ends). The result may be an error, or a part of the bytes, even of a send for `all`.
    [[nodiscard]] static bool transfer_now(loop& home, const io_request& request,
                                           io_result& result) noexcept {
        return home.transfer_now(request, result);
    }
    template <direction Direction, bool All>
    [[nodiscard]] static bool transfer_now(loop& home,
                                           const stream_request<Direction, All>& request,
                                           io_result& result) noexcept {
        constexpr std::size_t most = stream_request<Direction, All>::size_max;
        if (request.size_ - 1 >= most) {  // none, or too many
            return false;
        }
        const loop::handle_of of{*request.slot_, request.generation_};
        if constexpr (Direction == direction::out) {
            return home.send_now(of, request.data_, request.size_, 0, result);
        } else {
            return !All && home.recv_now(of, request.data_, request.size_, 0, result);
        }
    }
};

}  // namespace eddy
