#pragma once

#include "async/running.hpp"
#include "support/engine_fixture.hpp"

#include <functional>
#include <memory>

namespace eddy::test {

/// One kind of operation, for StopStagesTest.
struct stop_case {
    /// What it waits for happens. Empty: it waits for nothing.
    std::function<void()> happen = {};
    /// After the end: whether `happen` was called, and whether the operation has a value. Checks
    /// that nothing was lost, and makes everything as it was.
    std::function<void(bool happened, bool got)> check = [](bool, bool) {};
    /// Between start and stop it ends by itself.
    bool ends_alone = false;
    /// It must be started on the thread of its loop.
    bool needs_loop = false;
};

/// A request to stop at each stage of an operation: it ends once, on its loop, as stopped or with
/// its value; nothing leaks, which the fixture checks.
class StopStagesTest : public EngineTest {
protected:
    template <class Make>
    void stop_in_each_stage(const char* name, Make make, const stop_case& about = {}) {
        SCOPED_TRACE(name);
        stop_in_each_stage_before(make, about);
        if (about.happen) {
            stop_in_each_stage_after(make, about);
        }
    }

private:
    template <class Make>
    void stop_in_each_stage_before(Make make, const stop_case& about) {
        stage("before the start", make, about, [&](auto& op) {
            op.stop();
            op.start_on(loop());
            EXPECT_TRUE(until([&] { return op.ended(); }));
            EXPECT_EQ(op.how(), ending::stopped);
        });
        stage("right after the start", make, about, [&](auto& op) {
            loop().post([&] {
                op.start();
                op.stop();
            });
        });
        stage("on the way to its loop", make, about, [&](auto& op) {
            if (about.needs_loop) {
                op.start_on(loop());
            } else {
                op.start();
            }
            op.stop();
        });
        stage("while it is pending", make, about, [&](auto& op) {
            op.start_on(loop());
            settle();
            EXPECT_TRUE(about.ends_alone || !op.ended());
            op.stop();
            EXPECT_TRUE(until([&] { return op.ended(); }));
            EXPECT_TRUE(about.ends_alone || op.how() == ending::stopped);
        });
        stage("twice", make, about, [&](auto& op) {
            op.start_on(loop());
            settle();
            loop().post([&] { op.stop(); });
            op.stop();
        });
    }
    template <class Make>
    void stop_in_each_stage_after(Make make, const stop_case& about) {
        const auto happens = [&](const char* when, auto drive) {
            stage(when, make, about, drive, true);
        };
        happens("when the result is there, but not taken", [&](auto& op) {
            op.start_on(loop());
            settle();
            about.happen();
            op.stop();
        });
        happens("before the result comes in the same turn", [&](auto& op) {
            op.start_on(loop());
            settle();
            op.stop();
            about.happen();
        });
        happens("when the result is taken, but not delivered", [&](auto& op) {
            op.start_on(loop());
            settle();
            // What is ready with it, and was posted before, runs first.
            loop().post([&] {
                about.happen();
                loop().post([&] { op.stop(); });
            });
        });
        happens("after the end", [&](auto& op) {
            op.start_on(loop());
            settle();
            about.happen();
            EXPECT_TRUE(until([&] { return op.ended(); }));
            EXPECT_EQ(op.how(), ending::value);
            op.stop();
        });
    }
    template <class Make, class Drive>
    void stage(const char* when, Make make, const stop_case& about, Drive drive,
               bool happens = false) {
        SCOPED_TRACE(when);
        using operation = running<decltype(make())>;
        auto op = std::make_unique<operation>(make());
        drive(*op);
        ASSERT_TRUE(until([&] { return op->ended(); }));
        settle();
        EXPECT_EQ(op->seen.completions, 1);
        EXPECT_TRUE(op->how() == ending::stopped || op->how() == ending::value)
            << op->how() << ' ' << op->seen.error.message();
        const bool got = op->how() == ending::value;
        op.reset();
        about.check(happens, got);
        settle();
    }
};

}  // namespace eddy::test
