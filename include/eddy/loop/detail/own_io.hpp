// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/base/assert.hpp>
#include <eddy/engine/io_operation.hpp>
#include <eddy/loop/lease.hpp>
#include <eddy/loop/loop.hpp>
#include <eddy/loop/requests.hpp>

#include <cstdint>

namespace eddy {

/// An I/O operation that is made for one use, by what runs on the loop, and that nothing but the
/// loop's end stops: the ground of tasks, as stoppable_io is that of senders. It has less to ask.
///
/// Thread: the loop's, while it runs.
class own_io : public io_operation {
public:
    /// Whether the completion of a receive has to take its lease; else loop::take_lease() may.
    enum class lease_is : std::uint8_t { left, taken };

    /// `request`: on a descriptor of the loop that it is started on; not multishot.
    own_io(callback on_complete, const io_request& request, lease_is how) noexcept
        : io_operation(on_complete, request) {
        EDDY_ASSERT(!request.multishot, "a multishot operation is not made for one use");
        takes_lease_ = how == lease_is::taken;
    }

    /// What it will do. May be changed while it is not pending.
    io_request& mutable_request() noexcept { return request_; }

    /// Its completion may be called from inside this call, however deep that is: it must not go
    /// deeper itself.
    void start(loop& home) noexcept { home.start_made(*this); }

    /// The same for a receive, or a recv of at least one byte, if all that is to be done is to
    /// wait. False: nothing was done; start it.
    [[nodiscard]] bool wait_for_data(loop& home) noexcept { return home.wait_for_data(*this); }

    bool takes_lease() const noexcept { return takes_lease_; }
    /// With lease_is::taken, in the completion of a receive: the buffer with what it has got.
    lease take_lease() noexcept { return loop::lease_of(*this); }

    /// Makes the call of a recv or send at once, if there is nothing to wait for: no operation is
    /// needed then. False: nothing was moved; start one (always on io_uring, and while the loop
    /// ends). The result may be an error, or a part, also of a request for `all` that is a send.
    [[nodiscard]] static bool transfer_now(loop& home, const io_request& request,
                                           io_result& result) noexcept {
        return home.transfer_now(request, result);
    }
    template <direction Direction, bool All>
    [[nodiscard]] static bool transfer_now(loop& home,
                                           const stream_request<Direction, All>& request,
                                           io_result& result) noexcept {
        constexpr std::size_t most = stream_request<Direction, All>::size_max;
        if (request.size_ - 1 >= most) {  // nothing, or too much
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
