// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/async/detail/task/made_task.hpp>
#include <eddy/async/nursery.hpp>
#include <eddy/async/task.hpp>
#include <eddy/base/assert.hpp>

#include <exception>
#include <utility>

namespace eddy {

EDDY_EX_BEGIN

/// A child task, which owns itself. The list is for the destructor of the nursery.
class nursery::nursed final : private detail::task_owner {
public:
    nursed(nursery& in, task<> child) noexcept
        : task_owner(&in.home_, in.get_stop_token()),
          in_(in),
          next_(in.first_),
          task_(std::move(child)) {
        if (next_ != nullptr) {
            next_->previous_ = this;
        }
        in_.first_ = this;
        detail::task_access::promise(task_).adopt(*this);
    }
    ~nursed() {
        (previous_ != nullptr ? previous_->next_ : in_.first_) = next_;
        if (next_ != nullptr) {
            next_->previous_ = previous_;
        }
    }
    nursed(const nursed&) = delete;
    nursed& operator=(const nursed&) = delete;

    void run() noexcept {
        if (in_.children_++ == 0) {
            in_.idle_.reset();
        }
        detail::task_access::start(task_);
    }
    void drop() noexcept {
        detail::delete_in(detail::task_access::promise(task_).get_allocator(), this);
    }

private:
    void task_ended(detail::task_promise_base&, bool) noexcept override {
        nursery& in = in_;
        if (auto error = detail::task_access::promise(task_).result().error()) {
            in.fail(std::move(error));
        }
        drop();
        if (--in.children_ == 0) {
            in.idle_.set();
        }
    }

    nursery& in_;
    nursed* next_;
    nursed* previous_ = nullptr;
    task<> task_;
};

EDDY_EX_INLINE nursery::nursery(loop& home, detail::frame_allocator memory)
    : home_(home), memory_(memory), idle_(true) {}

EDDY_EX_INLINE nursery::~nursery() {
    while (first_ != nullptr) {
        first_->drop();
    }
}

EDDY_EX_INLINE void nursery::start(task<>&& child) {
    EDDY_ASSERT(loop::current() == &home_,
                "a child was started on a thread that does not run "
                "the loop of its nursery");
    const auto memory = detail::task_access::promise(child).get_allocator();
    detail::new_in<nursed>(memory, *this, std::move(child))->run();
}

EDDY_EX_INLINE void nursery::stop() noexcept {
    if (!requests_.join()) {
        return;
    }
    stop_.request_stop();
    leave_requests();
}

EDDY_EX_INLINE void nursery::leave_requests() noexcept {
    if (requests_.arrive()) {
        quiet_.set();  // the waiter may then destroy the nursery, but not inside this call
    }
}

EDDY_EX_INLINE void nursery::fail(std::exception_ptr error) noexcept {
    if (!error_) {
        error_ = std::move(error);
    }
    stop();
}

EDDY_EX_INLINE void nursery::rethrow() {
    if (error_) {
        std::rethrow_exception(std::exchange(error_, nullptr));
    }
}

EDDY_EX_END

}  // namespace eddy
