// SPDX-License-Identifier: Apache-2.0
#include "async/running.hpp"
#include "async/task_fixture.hpp"
#include "ex/support.hpp"
#include "support/counting_resource.hpp"

#include <eddy/async/nursery.hpp>

#include <memory>
#include <stdexcept>
#include <string>
#include <thread>

namespace eddy::test::nursery_test {
namespace {

class Nursery : public TaskTest {
public:
    /// Waits until it is stopped, and says then who it was.
    task<> forever(char who) {
        const at_exit leave([this, who] { trace += who; });
        co_await loop().get_scheduler().schedule_after(1h);
        trace += '!';
    }
    task<> fails(const char* why) {
        co_await loop().get_scheduler().schedule();
        throw std::runtime_error(why);
    }
    task<> brief(char who) {
        co_await loop().get_scheduler().schedule_after(1ms);
        trace += who;
    }
    /// What a block threw; empty: nothing.
    template <class Sender>
    std::string thrown_by(Sender&& sender) {
        try {
            static_cast<void>(loop().run(std::forward<Sender>(sender)));
            return {};
        } catch (const std::runtime_error& error) {
            return error.what();
        }
    }
    std::string trace;
};
EDDY_ON_EVERY_ENGINE(Nursery);

TEST_P(Nursery, GivesTheValueOfItsBlock) {
    const auto body = []() -> task<int> {
        const int got = co_await with_nursery([](nursery&) -> task<int> { co_return 7; });
        co_await with_nursery([](nursery&) -> task<> { co_return; });
        co_return got;
    };
    EXPECT_EQ(value_of(body()), 7);
}

TEST_P(Nursery, GivesAnyKindOfValue) {
    struct fixed {
        const int number;  // so that it can be moved, but not assigned
    };
    const auto body = []() -> task<int> {
        auto pair = co_await with_nursery(
            [](nursery&) -> task<std::tuple<int, int>> { co_return std::tuple(1, 2); });
        auto owner = co_await with_nursery(
            [](nursery&) -> task<std::unique_ptr<int>> { co_return std::make_unique<int>(4); });
        auto constant = co_await with_nursery([](nursery&) -> task<fixed> { co_return fixed{8}; });
        co_return std::get<0>(pair) + std::get<1>(pair) + *owner + constant.number;
    };
    EXPECT_EQ(value_of(body()), 15);
}

TEST_P(Nursery, EndsItsChildrenWhenTheBlockIsLeft) {
    const auto body = [&]() -> task<> {
        co_await with_nursery([&](nursery& children) -> task<> {
            children.start(forever('a'));
            children.start(forever('b'));
            EXPECT_EQ(children.size(), 2U);
            co_await loop().get_scheduler().schedule();
            EXPECT_EQ(trace, "");
        });
        EXPECT_EQ(trace.size(), 2U) << "they are gone when it is over";
    };
    EXPECT_TRUE(loop().run(body()));
}

TEST_P(Nursery, WaitsForItsChildrenIfTheBlockDoes) {
    const auto body = [&]() -> task<> {
        co_await with_nursery([&](nursery& children) -> task<> {
            co_await children.join();
            children.start(brief('a'));
            children.start(brief('b'));
            co_await children.join();
            EXPECT_EQ(children.size(), 0U);
        });
    };
    EXPECT_TRUE(loop().run(body()));
    EXPECT_EQ(trace, "ab");
}

TEST_P(Nursery, AChildThatFailsStopsTheOthersAndTheBlock) {
    const auto body = [&]() -> task<> {
        co_await with_nursery([&](nursery& children) -> task<> {
            const at_exit leave([&] { trace += 'o'; });
            children.start(forever('a'));
            children.start(fails("child"));
            co_await loop().get_scheduler().schedule_after(1h);
            trace += '!';
        });
        trace += '!';
    };
    EXPECT_EQ(thrown_by(body()), "child");
    EXPECT_EQ(trace.size(), 2U);
    EXPECT_EQ(trace.find('!'), std::string::npos);
}

TEST_P(Nursery, AChildThatFailsWhileTheBlockWaitsForAllIsThrown) {
    const auto body = [&]() -> task<> {
        co_await with_nursery([&](nursery& children) -> task<> {
            children.start(fails("first"));
            children.start(fails("second"));
            co_await children.join();
        });
    };
    EXPECT_EQ(thrown_by(body()), "first");
}

TEST_P(Nursery, AChildThatFailsAtOnceIsThrownToo) {
    const auto body = [&]() -> task<> {
        co_await with_nursery([&](nursery& children) -> task<> {
            children.start([]() -> task<> {
                throw std::runtime_error("at once");
                co_return;
            }());
            EXPECT_TRUE(children.get_stop_token().stop_requested());
            co_return;
        });
    };
    EXPECT_EQ(thrown_by(body()), "at once");
}

TEST_P(Nursery, AChildWithItsOwnHandlerFailsAlone) {
    std::string told;
    const auto body = [&]() -> task<> {
        co_await with_nursery([&](nursery& children) -> task<> {
            const auto note = [&](std::exception_ptr error) noexcept {
                try {
                    std::rethrow_exception(error);
                } catch (const std::exception& e) {
                    told = e.what();
                }
            };
            children.start(fails("mine"), note);
            children.start(brief('b'));
            co_await children.join();
        });
    };
    EXPECT_EQ(thrown_by(body()), "");
    EXPECT_EQ(told, "mine");
    EXPECT_EQ(trace, "b");
}

TEST_P(Nursery, ABlockThatThrowsEndsItsChildrenFirst) {
    const auto body = [&]() -> task<> {
        try {
            co_await with_nursery([&](nursery& children) -> task<> {
                children.start(forever('a'));
                throw std::runtime_error("block");
                co_return;
            });
        } catch (const std::runtime_error&) {
            EXPECT_EQ(trace, "a");
            throw;
        }
    };
    EXPECT_EQ(thrown_by(body()), "block");
}

TEST_P(Nursery, ABlockFunctionThatThrowsIsToldOfToo) {
    const auto body = [&]() -> task<> {
        co_await with_nursery([&](nursery& children) -> task<> {
            children.start(forever('a'));
            throw std::runtime_error("no coroutine");
        });
    };
    EXPECT_EQ(thrown_by(body()), "no coroutine");
    EXPECT_EQ(trace, "a");
}

TEST_P(Nursery, IsStoppedWithWhoeverAwaitsIt) {
    const auto body = [&]() -> task<> {
        co_await with_nursery([&](nursery& children) -> task<> {
            children.start(forever('a'));
            co_await forever('b');
        });
        trace += '!';
    };
    for (const bool elsewhere : {false, true}) {
        trace.clear();
        auto r = std::make_unique<running<task<>>>(body());
        std::thread other;
        loop().post([&] {
            r->start();
            if (elsewhere) {
                other = std::thread([&] { r->stop(); });
            } else {
                r->stop();
            }
        });
        ASSERT_TRUE(until([&] { return r->ended(); }));
        if (other.joinable()) {
            other.join();
        }
        EXPECT_EQ(r->how(), ending::stopped);
        EXPECT_EQ(r->seen.where, &loop());
        r.reset();
        EXPECT_EQ(trace.size(), 2U);
        EXPECT_EQ(trace.find('!'), std::string::npos);
    }
}

TEST_P(Nursery, WaitsForChildrenThatTakeTheirTimeAfterAStop) {
    const auto stubborn = [&]() -> task<> {
        co_await ex::unstoppable(loop().get_scheduler().schedule_after(2ms));
        trace += 's';
    };
    const auto body = [&]() -> task<> {
        co_await with_nursery([&](nursery& children) -> task<> {
            children.start(stubborn());
            co_return;
        });
        trace += 'e';
    };
    EXPECT_TRUE(loop().run(body()));
    EXPECT_EQ(trace, "se");
}

TEST_P(Nursery, MayBeStoppedByAnyone) {
    const auto body = [&]() -> task<> {
        co_await with_nursery([&](nursery& children) -> task<> {
            children.start(forever('a'));
            std::thread([&] { children.stop(); }).join();
            co_await forever('b');
        });
        trace += '!';
    };
    EXPECT_FALSE(loop().run(body()));
    EXPECT_EQ(trace.size(), 2U);
}

TEST_P(Nursery, AChildThatIsStartedAfterTheStopEndsAtItsFirstWait) {
    const auto body = [&]() -> task<> {
        co_await with_nursery([&](nursery& children) -> task<> {
            children.stop();
            children.start(forever('a'));
            children.start(loop().get_scheduler().schedule_after(1h));
            co_return;
        });
    };
    EXPECT_TRUE(loop().run(body()));
    EXPECT_EQ(trace, "a");
}

TEST_P(Nursery, StartsSendersToo) {
    const auto body = [&]() -> task<> {
        co_await with_nursery([&](nursery& children) -> task<> {
            children.start(ex::then(loop().get_scheduler().schedule(), [&] {
                trace += 's';
                return 5;
            }));
            children.start(ex::just_stopped());
            co_await children.join();
        });
        co_await with_nursery([&](nursery& children) -> task<> {
            children.start(ex::just_error(std::make_error_code(std::errc::io_error)),
                           [&](const std::exception_ptr&) { trace += 'h'; });
            co_await children.join();
        });
        co_await with_nursery([&](nursery& children) -> task<> {
            children.start(ex::just_error(std::make_error_code(std::errc::io_error)));
            co_await children.join();
        });
    };
    EXPECT_THROW(static_cast<void>(loop().run(body())), std::system_error);
    EXPECT_EQ(trace, "sh");
}

TEST_P(Nursery, ChildrenMayStartOthersAndHaveNurseriesOfTheirOwn) {
    const auto inner = [&]() -> task<> {
        co_await with_nursery([&](nursery& children) -> task<> {
            children.start(forever('i'));
            children.start(fails("inner"));
            co_await forever('b');
        });
    };
    const auto body = [&]() -> task<> {
        co_await with_nursery([&](nursery& children) -> task<> {
            children.start([](Nursery* self, nursery& more, auto inside) -> task<> {
                co_await self->brief('1');
                more.start(self->forever('o'));
                more.start(self->brief('2'));
                co_await self->brief('3');
                more.start(inside());
            }(this, children, inner));
            co_await children.join();
        });
    };
    EXPECT_EQ(thrown_by(body()), "inner");
    EXPECT_EQ(trace.substr(0, 3), "123");
    EXPECT_EQ(trace.size(), 6U);
}

task<> with_memory(std::allocator_arg_t, std::pmr::memory_resource*, loop_scheduler home) {
    co_await home.schedule();
}

TEST_P(Nursery, ChildrenUseTheirOwnMemory) {
    counting_resource memory;
    counting_resource too_small(1);
    const auto body = [&]() -> task<> {
        co_await with_nursery([&](nursery& children) -> task<> {
            children.start(with_memory(std::allocator_arg, &memory, loop().get_scheduler()));
            EXPECT_EQ(memory.taken(), 2U);
            EXPECT_THROW(
                children.start(with_memory(std::allocator_arg, &too_small, loop().get_scheduler())),
                std::bad_alloc);
            co_await children.join();
        });
    };
    EXPECT_TRUE(loop().run(body()));
    EXPECT_EQ(memory.taken(), 2U);
    EXPECT_EQ(memory.in_use(), 0U);
    EXPECT_EQ(too_small.in_use(), 0U);
}

TEST_P(Nursery, EndsWithTheLoop) {
    const auto body = [&]() -> task<> {
        co_await with_nursery([&](nursery& children) -> task<> {
            children.start(forever('a'));
            co_await forever('b');
        });
        trace += '!';
    };
    running<task<>> r(body());
    r.start_on(loop());
    settle();
    loop().stop();
    loop().run(run_mode::drained, {.until = clock::now() + patience});
    EXPECT_EQ(r.how(), ending::stopped);
    EXPECT_EQ(trace.find('!'), std::string::npos);
}

TEST_P(Nursery, WhoseBlockEndsInsideAStopEndsAfterIt) {
    for (const bool from_outside : {false, true}) {
        ex_testing::manual_event waits;
        nursery* children = nullptr;
        running all(with_nursery([&](nursery& given) -> task<> {
            children = &given;
            co_await waits.wait();
        }));
        all.start_on(loop());
        settle();
        loop().post([&] {
            from_outside ? all.stop() : children->stop();
            EXPECT_TRUE(waits.stop_seen());
            EXPECT_FALSE(all.ended()) << "it was destroyed below the request";
        });
        ASSERT_TRUE(until([&] { return all.ended(); }));
        EXPECT_EQ(all.how(), ending::stopped);
    }
}

task<> has_a_nursery(std::allocator_arg_t, std::pmr::memory_resource*) {
    co_await with_nursery([](nursery& children) -> task<> {
        children.start(ex::just());
        co_return;
    });
}

TEST_P(Nursery, TakesTheMemoryOfWhoeverAwaitsIt) {
    counting_resource memory;
    EXPECT_EQ(thrown_by(has_a_nursery(std::allocator_arg, &memory)), "");
    EXPECT_EQ(memory.taken(), 4U) << "the task, the nursery, the child and its frame";
    EXPECT_EQ(memory.in_use(), 0U);
    counting_resource too_little(1);
    EXPECT_THROW(loop().run(has_a_nursery(std::allocator_arg, &too_little)), std::bad_alloc);
    EXPECT_EQ(too_little.in_use(), 0U);
}

}  // namespace
}  // namespace eddy::test::nursery_test
