// SPDX-License-Identifier: Apache-2.0
// Calls that block, made elsewhere: loop_options::blocking.
#include "support/engine_fixture.hpp"
#include "support/in_child.hpp"

#include <atomic>
#include <thread>

#include <fcntl.h>

namespace eddy::test::executor_test {
namespace {

/// A loop on a thread of its own, which can be held up.
class Executor : public EngineTest {
protected:
    void SetUp() override {
        EngineTest::SetUp();
        if (IsSkipped()) {
            return;
        }
        elsewhere_ = std::make_unique<eddy::loop>(loop_options{.engine = engine_kind::epoll});
        make_loop({.blocking = elsewhere_.get()});
    }
    void TearDown() override {
        if (thread_.joinable()) {
            elsewhere_->stop();
            thread_.join();
        }
        end_loop();
        elsewhere_.reset();
        EngineTest::TearDown();
    }
    /// From here on what was sent away is done.
    void let_it_work() {
        thread_ = std::thread([this] { elsewhere_->run(); });
    }

private:
    std::unique_ptr<eddy::loop> elsewhere_;
    std::thread thread_;
};
EDDY_ON_EVERY_ENGINE(Executor);

TEST_P(Executor, BringsTheResultBackToTheThreadOfTheLoop) {
    let_it_work();
    const scratch_directory directory;
    const descriptor d = attach(directory.file("f", "content"));
    std::string buffer(16, '\0');
    std::thread::id where;
    recorder r([&](recorder&) { where = std::this_thread::get_id(); });
    start(r, read(d, bytes(buffer)));
    ASSERT_TRUE(ends(r));
    EXPECT_EQ(buffer.substr(0, r.count()), "content");
    EXPECT_EQ(where, std::this_thread::get_id());
    recorder o;
    const std::string path = directory.path("f");
    start(o, open(path.c_str(), O_RDONLY));
    recorder s;
    start(s, fsync(d));
    ASSERT_TRUE(ends(o));
    ASSERT_TRUE(ends(s));
    const unique_fd opened(o.result().fd());
    EXPECT_TRUE(opened) << o.error();
    EXPECT_EQ(s.result(), io_result::value(0)) << s.error();
}

TEST_P(Executor, KeepsTheOrderOfReadsWithoutAnOffset) {
    const scratch_directory directory;
    const descriptor d = attach(directory.file("f", "abcdefghij"));
    std::vector<std::string> parts(10, std::string(1, '\0'));
    std::vector<std::unique_ptr<recorder>> readers;
    std::string order;
    for (std::string& part : parts) {
        readers.push_back(std::make_unique<recorder>([&](recorder&) { order += part; }));
        start(*readers.back(), read(d, bytes(part)));
    }
    let_it_work();
    ASSERT_TRUE(until([&] { return order.size() == 10; }));
    EXPECT_EQ(order, "abcdefghij");
}

TEST_P(Executor, ReadsFromAFileThatIsClosedMeanwhileAndTellsOnce) {
    let_it_work();
    const scratch_directory directory;
    for (int i = 0; i != 100; ++i) {
        descriptor d = attach(directory.file("f" + std::to_string(i), "content"));
        const int number = d.native_handle();
        std::string buffer(16, '\0');
        recorder r;
        start(r, read(d, bytes(buffer)));
        loop().poll();
        d.close();
        loop().run(run_mode::empty, {.until = clock::now() + patience});
        ASSERT_EQ(r.endings(), 1U);
        ASSERT_TRUE(r.result().ok() ? r.count() == 7U : r.error() == std::errc::operation_canceled)
            << r.error();
        ASSERT_FALSE(is_open(number));
    }
}

class ExecutorOfReadiness : public Executor {};
EDDY_ON_READINESS_ENGINES(ExecutorOfReadiness);

TEST_P(ExecutorOfReadiness, IsWaitedForByAClose) {
    const scratch_directory directory;
    descriptor d = attach(directory.file("f", "content"));
    const int number = d.native_handle();
    std::string buffer(16, '\0');
    recorder r;
    recorder waiting;
    start(r, read(d, bytes(buffer)));
    start(waiting, read(d, bytes(buffer)));
    settle();
    loop().cancel(r.operation());  // too late: it is away
    recorder closer;
    unique_fd back;
    EXPECT_EQ(d.release(back), std::errc::device_or_resource_busy);
    start(closer, close(d));
    settle();
    EXPECT_TRUE(is_open(number));
    EXPECT_FALSE(closer.ended());
    let_it_work();
    ASSERT_TRUE(ends(closer));
    ASSERT_TRUE(ends(r));
    ASSERT_TRUE(ends(waiting));
    EXPECT_EQ(r.count(), 7U) << r.error();
    EXPECT_EQ(waiting.error(), std::errc::operation_canceled);
    EXPECT_FALSE(is_open(number));
}

TEST_P(ExecutorOfReadiness, IsWaitedForByWhatIsAbandoned) {
    const scratch_directory directory;
    const descriptor d = attach(directory.file("f", "content"));
    const std::string path = directory.path("f");
    std::string buffer(16, '\0');
    recorder r;
    recorder o;
    start(r, read(d, bytes(buffer)));
    start(o, open(path.c_str(), O_RDONLY));
    settle();
    let_it_work();
    loop().abandon(r.operation());
    loop().abandon(o.operation());
    EXPECT_FALSE(r.operation().pending());
    buffer.assign(16, 'x');
    settle();
    EXPECT_FALSE(r.ended());
    EXPECT_FALSE(o.ended());
    EXPECT_TRUE(loop().empty());
    EXPECT_EQ(buffer, std::string(16, 'x'));
}

TEST_P(ExecutorOfReadiness, DoesNotHoldUpTheLoop) {
    const scratch_directory directory;
    const descriptor file = attach(directory.file("f", "content"));
    fd_pair pair = tcp_pair();
    const descriptor socket = attach(std::move(pair.first));
    std::string far(16, '\0');
    std::string near(16, '\0');
    recorder slow;
    recorder quick;
    start(slow, read(file, bytes(far)));
    start(quick, recv(socket, bytes(near)));
    send_all(pair.second.get(), "abc");
    ASSERT_TRUE(ends(quick));
    EXPECT_FALSE(slow.ended());
    let_it_work();
    ASSERT_TRUE(ends(slow));
}

TEST_P(ExecutorOfReadiness, StaysWithTheParentWhichAChildIsToldOf) {
    const scratch_directory directory;
    const descriptor d = attach(directory.file("f", "content"));
    std::string buffer(16, '\0');
    recorder r;
    start(r, read(d, bytes(buffer)));
    settle();
    const int ended = in_child([&] {
        loop().after_fork_in_child();
        loop().run(run_mode::empty, {.until = clock::now() + patience});
        EXPECT_EQ(r.endings(), 1U);
        EXPECT_EQ(r.error(), std::errc::operation_canceled);
        EXPECT_TRUE(loop().empty());
        return 0;
    });
    EXPECT_EQ(ended, 0);
    EXPECT_FALSE(r.ended());
    let_it_work();
    ASSERT_TRUE(ends(r));
    EXPECT_EQ(r.count(), 7U) << r.error();
}

}  // namespace
}  // namespace eddy::test::executor_test
