// SPDX-License-Identifier: Apache-2.0
// A program may be started with its standard streams closed: what pollsets open must not take their
// place.
#include "support/standard_fds.hpp"
#include "support/in_child.hpp"
#include "support/pollset_fixture.hpp"

#include <eddy/pollset/pollset_timer.hpp>

#include <functional>
#include <optional>

namespace eddy::test::pollset_standard_fds_test {
namespace {

class PollsetStandardFds : public PollsetTest {
protected:
    /// A pollset with a pipe.
    struct served_set {
        explicit served_set(poll_domain& domain)
            : pipe(make_own_pipe()), handle(domain, std::move(pipe.first)), set(domain) {
            EXPECT_FALSE(set.add(*handle));
        }
        fd_pair pipe;
        held_handle handle;
        pollset set;
    };
    /// A pipe of the test, which leaves the standard numbers free.
    static fd_pair make_own_pipe() {
        const fd_pair places[] = {make_pipe(), make_pipe()};
        return make_pipe();
    }
    /// In a forked child whose standard streams are closed: what `body(domain)` returns.
    static int without_standard_fds(const std::function<int(poll_domain&)>& body) {
        return in_child([&] {
            close_standard_fds();
            poll_domain fresh({.strategy = GetParam()});
            return standard_fds_are_free() ? body(fresh) : 100;
        });
    }
};
EDDY_WITH_EVERY_STRATEGY(PollsetStandardFds);

TEST_P(PollsetStandardFds, AreNotTakenByPollsetsAndTheirHandles) {
    const auto body = [](poll_domain& fresh) {
        served_set one(fresh);
        pollset other(fresh);
        pollset_set bag(fresh);
        if (other.add(*one.handle) || bag.add(one.set) || !standard_fds_are_free()) {
            return 1;
        }
        noted readable;
        if (one.handle->notify_on_read(readable)) {
            return 2;
        }
        write_all(one.pipe.second.get(), "x");
        if (!until(one.set, [&] { return readable.calls() == 1; })) {
            return 3;
        }
        return standard_fds_are_free() ? 0 : 4;
    };
    EXPECT_EQ(without_standard_fds(body), 0);
}

TEST_P(PollsetStandardFds, AreNotTakenByTimers) {
    const auto body = [](poll_domain& fresh) {
        pollset set(fresh);
        noted due;
        pollset_timer timer(set, due);
        if (timer.set_after(1ms) || !standard_fds_are_free()) {
            return 1;
        }
        if (!until(set, [&] { return due.calls() == 1; })) {
            return 2;
        }
        return standard_fds_are_free() ? 0 : 3;
    };
    EXPECT_EQ(without_standard_fds(body), 0);
}

/// With `domain` one of the two pollsets gets an epoll set of its own.
TEST_P(PollsetStandardFds, AreNotTakenByWorkersThatWaitAndAreKicked) {
    const auto body = [](poll_domain& fresh) {
        served_set one(fresh);
        served_set other(fresh);
        const std::size_t before = open_fds();
        {
            const serving first(one.set);
            const serving second(other.set);
            const bool wait =
                comes([&] { return fresh.counters().waits + fresh.counters().sleeps > 1; });
            const bool moves =
                GetParam() != poll_strategy::domain || comes([&] { return open_fds() > before; });
            if (!wait || !moves || !standard_fds_are_free()) {
                return 1;
            }
        }
        return standard_fds_are_free() ? 0 : 2;
    };
    EXPECT_EQ(without_standard_fds(body), 0);
}

}  // namespace
}  // namespace eddy::test::pollset_standard_fds_test
