#pragma once

#include <eddy/base/config.hpp>
#include <eddy/base/member.hpp>
#include <eddy/ex/inplace_stop_token.hpp>
#include <eddy/loop/loop.hpp>
#include <eddy/loop/loop_notice.hpp>

#include <cstddef>

namespace eddy::detail {

EDDY_EX_BEGIN

/// What the tasks that spawn() has started on one loop have in common: they are stopped when the
/// loop is destroyed. Made for the first of them; deletes itself when the loop ends and the last of
/// them has ended.
///
/// Thread: the loop's.
class background {
public:
    /// Throws std::bad_alloc.
    static background& of(loop& home) {
        if (loop_notice* const known = home.resident(&on_end)) {
            return of(*known);
        }
        auto* const made = new background;
        home.add_resident(made->end_);
        return *made;
    }
    background(const background&) = delete;
    background& operator=(const background&) = delete;

    ex::inplace_stop_token get_stop_token() const noexcept { return stop_.get_token(); }
    void enter() noexcept { ++tasks_; }
    void leave() noexcept {
        if (--tasks_ == 0 && ended_) {
            delete this;
        }
    }

private:
    background() = default;
    ~background() = default;

    static background& of(loop_notice& end) noexcept { return owner_of<&background::end_>(end); }
    static void on_end(loop_notice& end) noexcept {
        background& self = of(end);
        self.enter();  // all of them may end inside the request
        self.stop_.request_stop();
        self.ended_ = true;
        self.leave();
    }
    /// After fork(): those that wait stay as they are.
    static void on_lost(loop_notice& end) noexcept {
        background& self = of(end);
        self.enter();
        self.ended_ = true;
        self.leave();
    }

    loop_notice end_{&on_end, &on_lost};
    ex::inplace_stop_source stop_;
    std::size_t tasks_ = 0;
    bool ended_ = false;
};

EDDY_EX_END

}  // namespace eddy::detail
