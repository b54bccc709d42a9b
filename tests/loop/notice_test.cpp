// SPDX-License-Identifier: Apache-2.0
#include "loop/loop_fixture.hpp"

#include <functional>
#include <memory>
#include <optional>

namespace eddy::test::notice_test {
namespace {

/// Counts how often it is told.
class listener {
public:
    explicit listener(std::function<void(listener&)> then = {}) : then_(std::move(then)) {}

    loop_notice notice{[](loop_notice& n) noexcept {
        auto& self = detail::owner_of<&listener::notice>(n);
        ++self.told;
        if (self.then_) {
            self.then_(self);
        }
    }};
    int told = 0;

private:
    std::function<void(listener&)> then_;
};

class LoopNotice : public LoopTest {};
EDDY_ON_EVERY_ENGINE(LoopNotice);

TEST_P(LoopNotice, WhoAsksAgainFromInsideTheCallIsToldOfTheRunAfter) {
    const auto ask_again = [&](listener& l) {
        EXPECT_TRUE(l.told == 100 || loop().tell_of_next_run(l.notice));
    };
    listener one(ask_again);
    listener another(ask_again);
    for (listener* each : {&one, &another}) {
        ASSERT_TRUE(loop().tell_of_next_run(each->notice));
    }
    for (int run = 1; run != 4; ++run) {
        loop().poll();
        EXPECT_EQ(one.told, run);
        EXPECT_EQ(another.told, run);
    }
}

TEST_P(LoopNotice, OneThatIsToldMayTakeBackAndGiveOthers) {
    std::optional<listener> gone(std::in_place);
    listener fresh;
    listener first([&](listener&) {
        gone.reset();
        EXPECT_TRUE(loop().tell_of_next_run(fresh.notice));
    });
    ASSERT_TRUE(loop().tell_of_next_run(gone->notice));
    ASSERT_TRUE(loop().tell_of_next_run(first.notice));
    loop().poll();
    EXPECT_EQ(first.told, 1);
    EXPECT_EQ(fresh.told, 0);
    loop().poll();
    EXPECT_EQ(first.told, 1);
    EXPECT_EQ(fresh.told, 1);
}

int residents_told = 0;
void count_resident(loop_notice&) noexcept { ++residents_told; }

TEST_P(LoopNotice, OfAResidentIsFoundByItsCallbackUntilItIsTold) {
    residents_told = 0;
    loop_notice one(&count_resident);
    listener other;
    EXPECT_EQ(loop().resident(&count_resident), nullptr);
    loop().add_resident(one);
    loop().add_resident(other.notice);
    EXPECT_EQ(loop().resident(&count_resident), &one);
    eddy::loop& ending = loop();
    listener of_end([&](listener&) { EXPECT_EQ(ending.resident(&count_resident), nullptr); });
    loop().tell_of_end(of_end.notice);
    end_loop();
    EXPECT_EQ(residents_told, 1);
    EXPECT_EQ(other.told, 1);
    EXPECT_EQ(of_end.told, 1);
}

TEST_P(LoopNotice, IsToldOfTheEndAlsoIfItIsGivenWhileTheLoopEnds) {
    eddy::loop& ending = loop();
    auto [near, peer] = unix_stream_pair();
    auto socket = std::make_unique<descriptor>(loop(), std::move(near));
    std::string buffer(8, '\0');
    listener by_completion;
    listener by_listener;
    listener again([&](listener& l) {
        if (l.told == 1) {
            ending.tell_of_end(by_listener.notice);
        }
        if (l.told != 3) {
            ending.tell_of_end(l.notice);
        }
    });
    recorder receiving([&](recorder&) {
        ending.tell_of_end(by_completion.notice);
        socket.reset();
    });
    start(receiving, recv(*socket, bytes(buffer)));
    loop().tell_of_end(again.notice);
    loop().poll();
    end_loop();
    EXPECT_EQ(by_completion.told, 1);
    EXPECT_EQ(by_listener.told, 1);
    EXPECT_EQ(again.told, 3);
}

TEST_P(LoopNotice, WhatIsStartedByOneThatIsToldLateEndsToo) {
    eddy::loop& ending = loop();
    job late;
    listener starts([&](listener&) { ending.post(late); });
    job last({}, [&] { ending.tell_of_end(starts.notice); });
    loop().post(last);
    end_loop();
    EXPECT_EQ(starts.told, 1);
    EXPECT_EQ(late.cancels, 1);
}

}  // namespace
}  // namespace eddy::test::notice_test
