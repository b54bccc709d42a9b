// SPDX-License-Identifier: Apache-2.0
#include "engine/lease_fixture.hpp"
#include "support/patience.hpp"

#include <condition_variable>
#include <mutex>
#include <thread>

namespace eddy::test::lease_blocking_test {
namespace {

/// Writes to a pipe that the loop reads for too long, so that a loop that blocks goes on.
class rescuer {
public:
    explicit rescuer(int fd) : thread_([this, fd] { watch(fd); }) {}
    ~rescuer() {
        {
            const std::lock_guard guard(lock_);
            over_ = true;
        }
        changed_.notify_one();
        thread_.join();
    }
    bool was_needed() {
        const std::lock_guard guard(lock_);
        return needed_;
    }

private:
    void watch(int fd) {
        std::unique_lock guard(lock_);
        if (!changed_.wait_for(guard, patience, [this] { return over_; })) {
            needed_ = true;
            write_all(fd, "late");
        }
    }

    std::mutex lock_;
    std::condition_variable changed_;
    bool over_ = false;
    bool needed_ = false;
    std::thread thread_;
};

/// A receive from a pipe that has nothing queues behind one that starves: the call of a pipe waits.
class LeaseOfPipes : public LeaseTest {
protected:
    void queue_up() {
        make_loop({.lease_count = 1, .lease_max = 1});
        starving = &starve(1, 2);
        starving->reader.then(nullptr);  // gives it back at once
        idle = &connect(make_pipe);
        begin(*idle);
    }
    void expect_no_waiting() {
        rescuer watching(idle->peer.get());
        kept.clear();
        ASSERT_TRUE(ends(starving->reader));
        settle();
        turns_in(1ms);
        EXPECT_FALSE(watching.was_needed()) << "the loop was blocked in read()";
        EXPECT_FALSE(idle->reader.ended());
        loop().cancel(idle->reader.operation());
        EXPECT_TRUE(ends(idle->reader));
    }

    connection* starving = nullptr;
    connection* idle = nullptr;
};
EDDY_ON_EVERY_ENGINE(LeaseOfPipes);

TEST_P(LeaseOfPipes, IsNotWaitedForInsideTheCall) {
    queue_up();
    expect_no_waiting();
}

TEST_P(LeaseOfPipes, IsNotWaitedForInsideTheCallOnceTheLoopIsEmbedded) {
    if (GetParam() == engine_kind::poll) {
        GTEST_SKIP() << "has no native handle";
    }
    queue_up();
    settle();
    EXPECT_GE(loop().native_handle(), 0);
    expect_no_waiting();
}

class LeaseOfPipesOnOldKernels : public on_old_kernels<LeaseOfPipes> {};
INSTANTIATE_TEST_SUITE_P(Engine, LeaseOfPipesOnOldKernels, ::testing::Values(engine_kind::io_uring),
                         engine_name);

TEST_P(LeaseOfPipesOnOldKernels, IsNotWaitedForInsideTheCall) {
    queue_up();
    expect_no_waiting();
}

}  // namespace
}  // namespace eddy::test::lease_blocking_test
