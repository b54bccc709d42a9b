// SPDX-License-Identifier: Apache-2.0

// Performs calls that block: on the loop's thread, or through the user's executor.
#include "engine/engine.hpp"
#include "engine/whole_transfer.hpp"
#include "loop/blocking_call.hpp"
#include "loop/system_timers.hpp"

#include <eddy/loop/loop.hpp>

#include <cerrno>
#include <new>
#include <utility>

namespace eddy {

bool loop::perform_blocking(io_operation& op) noexcept {
    if (options_.blocking != nullptr && send_away(op)) {
        return false;
    }
    engine_->finished(op, perform_whole(op.request_));
    return true;
}

/// Sends a call to the executor. False: there is no memory for that.
bool loop::send_away(io_operation& op) noexcept {
    if (free_calls_ == nullptr) {
        free_calls_.reset(new (std::nothrow) blocking_call);
        if (free_calls_ == nullptr) {
            return false;
        }
    }
    blocking_call& call = *free_calls_.release();
    free_calls_ = std::move(call.next_free);
    call.home = this;
    call.operation = &op;
    call.request = op.request_;
    if (op.request_.slot != nullptr) {
        call.slot = *op.request_.slot;
        call.request.slot = &call.slot;
    }
    call.prev_away = nullptr;
    call.next_away = away_calls_;
    if (away_calls_ != nullptr) {
        away_calls_->prev_away = &call;
    }
    away_calls_ = &call;
    engine_->send_away(op);
    call.job.set_callbacks(
        [](entry& e) noexcept {
            blocking_call& self = detail::owner_of<&blocking_call::job>(e);
            self.send_back(perform_whole(self.request));
        },
        [](entry& e) noexcept {
            detail::owner_of<&blocking_call::job>(e).send_back(io_result::system_error(ECANCELED));
        });
    options_.blocking->post(call.job);
    return true;
}

/// Returns the result to the loop. Thread: the executor's.
void loop::blocking_call::send_back(io_result how) noexcept {
    result = how;
    loop& to = *home;
    // relaxed: the push publishes it, and the loop cannot end before it has taken this call.
    to.threads_inside_.fetch_add(1, std::memory_order_relaxed);
    if (to.inbox_.push(*this)) {
        to.engine_->wake();
    }
    // release: pairs with ~loop(), which must not free what wake() uses.
    to.threads_inside_.fetch_sub(1, std::memory_order_release);
}

void loop::take_back(blocking_call& call) noexcept {
    if (call.operation != nullptr) {
        (call.prev_away != nullptr ? call.prev_away->next_away : away_calls_) = call.next_away;
        if (call.next_away != nullptr) {
            call.next_away->prev_away = call.prev_away;
        }
        io_request& request = call.operation->request_;
        call.request.slot = request.slot;
        request = call.request;  // asks for the rest, if the transfer broke off
        engine_->came_back(*call.operation, call.result);
        ready_.push(*call.operation);
    }
    call.next_free = std::move(free_calls_);
    free_calls_.reset(&call);
}

/// Ends all operations that an executor has, in the child after fork(): its threads are the
/// parent's. A call that comes back nevertheless, from an executor of the child, finds its
/// operation ended.
void loop::give_up_away() noexcept {
    for (blocking_call* call = away_calls_; call != nullptr; call = call->next_away) {
        io_operation& op = *std::exchange(call->operation, nullptr);
        engine_->came_back(op, io_result::system_error(ECANCELED));
        ready_.push(op);
    }
    away_calls_ = nullptr;
    threads_inside_.store(0, std::memory_order_relaxed);
}

}  // namespace eddy
