#include "faults/with_every_fault.hpp"
#include "support/pollset_fixture.hpp"

#include <string>
#include <utility>

#include <unistd.h>

namespace eddy::test::pollset_faults {

namespace {

/// Orphaned at the end of its block, in whatever way that is left.
class handle_of_block {
public:
    handle_of_block(poll_domain& domain, unique_fd fd) : handle_(domain, std::move(fd)) {}
    ~handle_of_block() {
        handle_.orphan(done_);
        EXPECT_EQ(done_.calls(), 1);
    }
    handle_of_block(const handle_of_block&) = delete;
    handle_of_block& operator=(const handle_of_block&) = delete;
    poll_handle& get() noexcept { return handle_; }

private:
    noted done_;
    poll_handle handle_;
};

/// A handle joins a pollset, is told of two events there, and leaves.
void serves(poll_domain& domain, attempt& a) {
    fd_pair pipe = make_pipe();
    a.guard([&] {
        pollset set(domain);
        handle_of_block handle(domain, std::move(pipe.first));
        if (const auto error = set.add(handle.get())) {
            a.told(error);
            return;
        }
        const time_point end = clock::now() + a.limit();
        for (int round = 0; round != 2; ++round) {
            noted readable;
            a.told(handle.get().notify_on_read(readable));
            write_all(pipe.second.get(), "x");
            while (readable.calls() == 0 && clock::now() < end) {
                const auto why = set.work(end);
                if (!why) {
                    a.told(why.error());
                    break;
                }
            }
            if (readable.calls() == 0) {
                if (a.errors().empty()) {
                    a.give_up();
                }
                EXPECT_TRUE(handle.get().cancel(readable));
                return;
            }
            EXPECT_EQ(readable.calls(), 1);
            a.told(readable.error());
            char byte = 0;
            EXPECT_EQ(::read(handle.get().fd(), &byte, 1), 1);
        }
        a.succeed();
    });
}

class PollsetFaultTest : public PollsetTest {
protected:
    void with_every_fault(unsigned nth_max) {
        test::with_every_fault({.name = std::string(to_string(GetParam())),
                                .scenario = [this](attempt& a) { serves(domain(), a); },
                                .settle = [] { return std::uint64_t{0}; }},
                               nth_max);
    }
};

class ScenarioPollset : public PollsetFaultTest {};
TEST_P(ScenarioPollset, SucceedsTwice) {
    for (int i = 0; i != 2; ++i) {
        attempt clean(patience);
        serves(domain(), clean);
        EXPECT_TRUE(clean.succeeded());
        EXPECT_TRUE(clean.errors().empty());
    }
}
EDDY_WITH_EVERY_STRATEGY(ScenarioPollset);

class FullFaultsPollset : public PollsetFaultTest {};
TEST_P(FullFaultsPollset, AreToldAndLoseNothing) { with_every_fault(first_three); }
EDDY_WITH_EVERY_STRATEGY(FullFaultsPollset);

class LongFaultsPollset : public PollsetFaultTest {};
TEST_P(LongFaultsPollset, AreToldAndLoseNothing) { with_every_fault(all_of_them); }
EDDY_WITH_EVERY_STRATEGY(LongFaultsPollset);

}  // namespace

}  // namespace eddy::test::pollset_faults
