// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "support/service.hpp"

#include <eddy/async/nursery.hpp>

#include <algorithm>
#include <list>
#include <utility>
#include <vector>

namespace example {

/// The services of a file, in its order.
class services {
public:
    /// `grace` is the time in which a service must end before it is killed.
    services(eddy::loop& loop, log& to, eddy::duration grace)
        : loop_(loop), log_(to), grace_(grace) {}

    /// Ends services that are not in `lines` or differ, and starts the new ones as children. A stop
    /// while a service ends loses nothing.
    eddy::task<> become(const std::vector<service_line>& lines, eddy::nursery& children) {
        std::list<service> next;
        for (const service_line& line : lines) {
            const auto same = std::find_if(current_.begin(), current_.end(),
                                           [&](const service& s) { return s.line() == line; });
            if (same == current_.end()) {
                next.emplace_back(line, log_, grace_);
            } else {
                next.splice(next.end(), current_, same);
            }
        }
        gone_.splice(gone_.end(), current_);
        current_ = std::move(next);
        co_await end_each(gone_);
        gone_.clear();
        for (service& s : current_) {
            if (!s.runs()) children.start(s.run(loop_));
        }
    }

    /// Ends all services, the last one first, each in good time.
    eddy::task<> end() {
        co_await end_each(gone_);
        co_await end_each(current_);
    }

    /// Kills all remaining services at once.
    void kill() noexcept {
        for (std::list<service>* list : {&gone_, &current_}) {
            for (service& s : *list) s.kill();
        }
    }

private:
    static eddy::task<> end_each(std::list<service>& list) {
        for (auto s = list.rbegin(); s != list.rend(); ++s) {
            co_await s->end();
        }
    }

    eddy::loop& loop_;
    log& log_;
    eddy::duration grace_;
    std::list<service> current_;
    std::list<service> gone_;  ///< services that are about to end
};

}  // namespace example
