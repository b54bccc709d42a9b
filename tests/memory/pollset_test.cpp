// SPDX-License-Identifier: Apache-2.0
#include "support/pollset_fixture.hpp"
#include "support/with_every_allocation_failing.hpp"

#include <eddy/pollset/pollset_timer.hpp>
#include <eddy/pollset/pollset_watch.hpp>

#include <system_error>
#include <utility>

namespace eddy::test::memory_pollset {

namespace {

class MemoryOfPollsets : public PollsetTest {};

fd_pair readable_pipe() {
    const allocations_of_test exempt;
    fd_pair made = make_pipe();
    write_all(made.second.get(), "x");
    return made;
}

void check(std::error_code error) {
    if (error) {
        throw std::system_error(error);
    }
}

/// Orphaned at the end of its block, in whatever way that is left.
class handle_of_block {
public:
    handle_of_block(poll_domain& domain, unique_fd fd) : handle_(domain, std::move(fd)) {}
    ~handle_of_block() { handle_.orphan(done_); }
    handle_of_block(const handle_of_block&) = delete;
    handle_of_block& operator=(const handle_of_block&) = delete;
    poll_handle& get() noexcept { return handle_; }

private:
    noted done_;
    poll_handle handle_;
};

/// Works until the closure was called. False: the pollset has failed.
bool works_until_called(pollset& set, const noted& done) {
    while (done.calls() == 0) {
        const auto end = set.work(clock::now() + patience);
        if (!end) {
            throw std::system_error(end.error());
        }
    }
    return !done.error();
}

bool is_told(poll_domain& domain) {
    fd_pair pipe = readable_pipe();
    pollset set(domain);
    pollset_set bag(domain);
    handle_of_block handle(domain, std::move(pipe.first));
    check(bag.add(set));
    check(bag.add(handle.get()));
    noted readable;
    check(handle.get().notify_on_read(readable));
    return works_until_called(set, readable);
}

TEST_P(MemoryOfPollsets, ADomainIsMadeAndTellsOfAnEvent) {
    with_every_allocation_failing([] {
        poll_domain made({.strategy = GetParam()});
        return is_told(made);
    });
}

TEST_P(MemoryOfPollsets, ADomainGoesOnTellingOfEvents) {
    with_every_allocation_failing([&] { return is_told(domain()); });
}

TEST_P(MemoryOfPollsets, AHandleIsInASetOrNot) {
    pollset set(domain());
    with_every_allocation_failing([&] {
        fd_pair pipe = readable_pipe();
        handle_of_block handle(domain(), std::move(pipe.first));
        check(set.add(handle.get()));
        noted readable;
        check(handle.get().notify_on_read(readable));
        return works_until_called(set, readable);
    });
}

TEST_P(MemoryOfPollsets, ATimerIsCalledOrNotMade) {
    with_every_allocation_failing([&] {
        pollset set(domain());
        noted due;
        pollset_timer timer(set, due);
        check(timer.set_after(1us));
        return works_until_called(set, due);
    });
}

class test_watch : public pollset_watch {
public:
    test_watch(pollset& set, unique_fd fd)
        : pollset_watch(set, std::move(fd), interest::readable) {}
    int calls = 0;

private:
    reaction on_ready(interest) override {
        ++calls;
        return reaction::disarm;
    }
};

TEST_P(MemoryOfPollsets, AWatchIsCalledOrNotMade) {
    with_every_allocation_failing([&] {
        fd_pair pipe = readable_pipe();
        pollset set(domain());
        test_watch watch(set, std::move(pipe.first));
        struct removed {
            test_watch& watch;
            ~removed() { watch.remove(); }
        } const at_end{watch};
        watch.arm();
        while (watch.calls == 0) {
            const auto end = set.work(clock::now() + patience);
            if (!end) {
                throw std::system_error(end.error());
            }
        }
        return true;
    });
}

EDDY_WITH_EVERY_STRATEGY(MemoryOfPollsets);

}  // namespace

}  // namespace eddy::test::memory_pollset
