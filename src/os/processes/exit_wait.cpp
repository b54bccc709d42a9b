// SPDX-License-Identifier: Apache-2.0

// Waits for the end of a process, and takes its status.
#include <eddy/os/exit_wait.hpp>

#include "os/processes/process_state.hpp"

#include <eddy/base/assert.hpp>
#include <eddy/base/detail/member.hpp>
#include <eddy/loop/requests.hpp>

namespace eddy {

exit_wait::exit_wait(callback on_exit) noexcept : io_(&on_ready), callback_(on_exit) {}

exit_wait::~exit_wait() {
    EDDY_ASSERT(!pending(),
                "a wait for a process was destroyed while it was pending: cancel it and wait for "
                "its callback first, or abandon it");
}

void exit_wait::begin() noexcept {
    process_->home().start(io_, wait(process_->ended(), interest::readable));
}

void exit_wait::on_ready(io_operation& op) noexcept {
    exit_wait& self = detail::owner_of<&exit_wait::io_>(op);
    self.error_ = op.result() ? self.process_->end(self.status_) : op.result().error();
    if (op.result() && self.error_ == std::errc::operation_would_block) {
        self.begin();  // others are just reaping the process
        return;
    }
    self.complete();
}

void exit_wait::complete() noexcept {
    process_.reset();
    if (callback_ != nullptr) {
        callback_(*this);
    }
}

void exit_wait::cancel() noexcept {
    if (pending()) {
        process_->home().cancel(io_);
    }
}

void exit_wait::abandon() noexcept {
    if (pending()) {
        process_->home().abandon(io_);
        process_.reset();
    }
}

}  // namespace eddy
