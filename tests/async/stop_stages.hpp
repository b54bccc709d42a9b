// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "async/running.hpp"
#include "support/engine_fixture.hpp"

#include <functional>
#include <memory>
#include <utility>

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

/// A request to stop at each stage of an operation: it ends once, as stopped or with its value, and
/// nothing leaks, which the fixture checks.
class StopStagesTest : public EngineTest {
protected:
    template <class Make>
    void stop_in_each_stage(const char* name, Make make, const stop_case& about = {}) {
        SCOPED_TRACE(name);
        const maker make_one = [&]() -> std::unique_ptr<attempt> {
            return std::make_unique<attempt_of<decltype(make())>>(make());
        };
        stop_before_it_happens(make_one, about);
        if (about.happen) {
            stop_when_it_happens(make_one, about);
        }
    }

private:
    /// `running`, whatever the sender: the stages are compiled once for all of them.
    struct attempt {
        virtual ~attempt() = default;
        virtual void start() = 0;
        virtual void stop() = 0;
        virtual const outcome& seen() const = 0;
        bool ended() const { return seen().ended(); }
        ending how() const { return seen().how; }
        void start_on(scheduler& where) {
            where.post([this] { start(); });
        }
    };
    template <class Sender>
    struct attempt_of final : attempt {
        explicit attempt_of(Sender sender) : inner(std::move(sender)) {}
        void start() override { inner.start(); }
        void stop() override { inner.stop(); }
        const outcome& seen() const override { return inner.seen; }
        running<Sender> inner;
    };
    using maker = std::function<std::unique_ptr<attempt>()>;
    using driver = std::function<void(attempt&)>;

    void stop_before_it_happens(const maker& make, const stop_case& about) {
        stage("before the start", make, about, [&](attempt& op) {
            op.stop();
            op.start_on(loop());
            EXPECT_TRUE(until([&] { return op.ended(); }));
            EXPECT_EQ(op.how(), ending::stopped);
        });
        stage("right after the start", make, about, [&](attempt& op) {
            loop().post([&] {
                op.start();
                op.stop();
            });
        });
        stage("on the way to its loop", make, about, [&](attempt& op) {
            if (about.needs_loop) {
                op.start_on(loop());
            } else {
                op.start();
            }
            op.stop();
        });
        stage("while it is pending", make, about, [&](attempt& op) {
            begin(op);
            EXPECT_TRUE(about.ends_alone || !op.ended());
            op.stop();
            EXPECT_TRUE(until([&] { return op.ended(); }));
            EXPECT_TRUE(about.ends_alone || op.how() == ending::stopped);
        });
        stage("twice", make, about, [&](attempt& op) {
            begin(op);
            loop().post([&] { op.stop(); });
            op.stop();
        });
    }
    void stop_when_it_happens(const maker& make, const stop_case& about) {
        const auto happens = [&](const char* when, const driver& drive) {
            stage(when, make, about, drive, true);
        };
        happens("when the result is there, but not taken", [&](attempt& op) {
            begin(op);
            about.happen();
            op.stop();
        });
        happens("before the result comes in the same turn", [&](attempt& op) {
            begin(op);
            op.stop();
            about.happen();
        });
        happens("when the result is taken, but not delivered", [&](attempt& op) {
            begin(op);
            loop().post([&] {
                about.happen();
                loop().post([&] { op.stop(); });
            });
        });
        happens("after the end", [&](attempt& op) {
            begin(op);
            about.happen();
            EXPECT_TRUE(until([&] { return op.ended(); }));
            EXPECT_EQ(op.how(), ending::value);
            op.stop();
        });
    }
    void begin(attempt& op) {
        op.start_on(loop());
        settle();
    }
    void stage(const char* when, const maker& make, const stop_case& about, const driver& drive,
               bool happens = false) {
        SCOPED_TRACE(when);
        std::unique_ptr<attempt> op = make();
        drive(*op);
        ASSERT_TRUE(until([&] { return op->ended(); }));
        settle();
        EXPECT_EQ(op->seen().completions, 1);
        EXPECT_TRUE(op->how() == ending::stopped || op->how() == ending::value)
            << op->how() << ' ' << op->seen().error.message();
        const bool got = op->how() == ending::value;
        op.reset();
        about.check(happens, got);
        settle();
    }
};

}  // namespace eddy::test
