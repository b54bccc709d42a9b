// SPDX-License-Identifier: Apache-2.0
// The engine that a loop gets, and what it says about it. Filters of calls are installed in
// children.
#include "kernel/call.hpp"
#include "loop/work.hpp"
#include "support/engine_fixture.hpp"
#include "support/in_child.hpp"
#include "support/seccomp.hpp"

#include <eddy/base/report.hpp>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>

namespace eddy::test::engine_choice_test {
namespace {

constexpr int no_filter = 76;

/// The message of the std::system_error that `body` throws.
template <class Body>
std::string refusal_of(Body&& body, std::error_code& code) {
    try {
        body();
    } catch (const std::system_error& error) {
        code = error.code();
        return error.what();
    }
    return "nothing was thrown";
}

/// In a child: 1, and what it was, unless both are the same.
int same(std::string_view is, std::string_view wanted) {
    if (is != wanted) {
        std::fprintf(stderr, "'%.*s' instead of '%.*s'\n", static_cast<int>(is.size()), is.data(),
                     static_cast<int>(wanted.size()), wanted.data());
    }
    return is == wanted ? 0 : 1;
}
int has(std::string_view text, std::string_view part) {
    if (text.find(part) == std::string_view::npos) {
        std::fprintf(stderr, "no '%.*s' in '%.*s'\n", static_cast<int>(part.size()), part.data(),
                     static_cast<int>(text.size()), text.data());
        return 1;
    }
    return 0;
}

bool works(eddy::loop& l) {
    auto [first, second] = make_pipe();
    descriptor end(l, std::move(first));
    std::byte buffer[8];
    recorder reading;
    reading.start(l, read(end, buffer));
    write_all(second.get(), "hello");
    l.run_one();
    return reading.count() == 5;
}

class EngineChoice : public ::testing::Test {
protected:
    void SetUp() override {
        if (const char* const before = std::getenv("EDDY_ENGINE")) {
            before_ = before;
        }
        ::unsetenv("EDDY_ENGINE");
    }
    void TearDown() override {
        kernel::fail_nothing();
        before_.empty() ? ::unsetenv("EDDY_ENGINE") : ::setenv("EDDY_ENGINE", before_.c_str(), 1);
    }

private:
    std::string before_;
};

TEST_F(EngineChoice, IsSaidInWords) {
    EXPECT_EQ(eddy::loop().engine_choice(), "epoll: the default");
    EXPECT_EQ(eddy::loop({.engine = engine_kind::poll}).engine_choice(), "poll: asked for");
    ::setenv("EDDY_ENGINE", "poll", 1);
    EXPECT_EQ(eddy::loop().engine_choice(), "poll: asked for by EDDY_ENGINE");
}

#if EDDY_HAS_IO_URING

/// A call that a ring needs, and how a choice names it.
struct ring_call {
    const char* name;
    long number;
    const char* called;  ///< in an error
    const char* words;   ///< of `best`
};

class DeniedRing : public ::testing::TestWithParam<ring_call> {
protected:
    void SetUp() override {
        try {
            const eddy::loop probe({.engine = engine_kind::io_uring});
        } catch (const std::system_error& error) {
            GTEST_SKIP() << error.what();
        }
    }
    /// How a child ends in which that call is denied from the beginning.
    static void in_denied_child(const std::function<int()>& body, int error = EPERM) {
        const int ended =
            in_child([&] { return deny_calls({GetParam().number}, error) ? body() : no_filter; });
        if (ended == no_filter) {
            GTEST_SKIP() << "seccomp is not permitted here";
        }
        EXPECT_EQ(ended, 0);
    }
};
INSTANTIATE_TEST_SUITE_P(
    Call, DeniedRing,
    ::testing::Values(ring_call{"setup", SYS_io_uring_setup, "io_uring_setup",
                                "io_uring: denied by seccomp; epoll"},
                      ring_call{"register", SYS_io_uring_register,
                                "io_uring_register (IORING_REGISTER_ENABLE_RINGS)",
                                "io_uring: io_uring_register (IORING_REGISTER_ENABLE_RINGS) denied "
                                "by seccomp; epoll"},
                      ring_call{"enter", SYS_io_uring_enter, "io_uring_enter",
                                "io_uring: io_uring_enter denied by seccomp; epoll"}),
    [](const auto& with) { return with.param.name; });

TEST_P(DeniedRing, IsNotTheBest) {
    for (const int error : {EPERM, ENOSYS}) {
        in_denied_child(
            [] {
                eddy::loop l({.engine = engine_kind::best});
                return l.engine() == engine_kind::epoll && works(l)
                           ? same(l.engine_choice(), GetParam().words)
                           : 2;
            },
            error);
    }
}

TEST_P(DeniedRing, IsRefusedByNameWhenItIsAskedFor) {
    in_denied_child([] {
        std::error_code code;
        const std::string message =
            refusal_of([] { const eddy::loop l({.engine = engine_kind::io_uring}); }, code);
        return code == errc::engine_denied ? has(message, GetParam().called) : 2;
    });
}

TEST_P(DeniedRing, IsNamedWhenThereIsNoHandleOfIt) {
    if (GetParam().number == SYS_io_uring_enter) {
        GTEST_SKIP() << "no handle needs that call";
    }
    const int ended = in_child([] {
        eddy::loop l({.engine = engine_kind::io_uring});
        if (!deny_calls({GetParam().number}, EPERM)) {
            return no_filter;
        }
        std::error_code code;
        const std::string message = refusal_of([&] { l.native_handle(); }, code);
        return code == std::errc::operation_not_permitted
                   ? has(message, GetParam().number == SYS_io_uring_setup
                                      ? "io_uring_setup"
                                      : "io_uring_register (IORING_REGISTER_EVENTFD)")
                   : 2;
    });
    if (ended == no_filter) {
        GTEST_SKIP() << "seccomp is not permitted here";
    }
    EXPECT_EQ(ended, 0);
}

/// A filter that comes when the loop is there: the ring was tried, and is refused all the same.
TEST_P(DeniedRing, LaterLeavesRunByNameAndEndsTheLoopInOrder) {
    for (const bool ran_before : {false, true}) {
        const int ended = in_child([&] {
            set_report_handler([](std::string_view) noexcept {});
            std::byte buffer[8];
            eddy::loop l({.engine = engine_kind::io_uring});
            auto [first, second] = make_pipe();
            descriptor end(l, std::move(first));
            io_operation reading;  // destroyed before the loop, which must not be an abort
            l.start(reading, read(end, buffer));
            if (ran_before) {
                l.poll();
            }
            if (!deny_calls({GetParam().number}, EPERM)) {
                return no_filter;
            }
            std::error_code code;
            const std::string message = refusal_of([&] { l.run_for(1ms); }, code);
            const std::string_view call = GetParam().called;
            // A ring that is there needs no setup, and one that runs is enabled.
            if (call == "io_uring_setup" || (ran_before && call != "io_uring_enter")) {
                l.abandon(reading);
                return same(message, "nothing was thrown");
            }
            if (reading.pending() || reading.result().system_error() != ECANCELED) {
                return 3;
            }
            return code == std::errc::operation_not_permitted ? has(message, call) : 2;
        });
        if (ended == no_filter) {
            GTEST_SKIP() << "seccomp is not permitted here";
        }
        EXPECT_EQ(ended, 0) << ran_before;
    }
}

/// A filter that comes when an operation is pending, and a loop that ends without another run.
TEST_P(DeniedRing, LaterIsNamedByTheEndOfTheLoop) {
    for (const bool ran_before : {false, true}) {
        const int ended = in_child([&] {
            static std::string heard;
            set_report_handler([](std::string_view line) noexcept { heard += line; });
            std::byte buffer[8];
            {
                recorder reading;
                eddy::loop l({.engine = engine_kind::io_uring});
                auto [first, second] = make_pipe();
                descriptor end(l, std::move(first));
                reading.start(l, read(end, buffer));
                if (ran_before) {
                    l.poll();
                }
                if (!deny_calls({GetParam().number}, EPERM)) {
                    return no_filter;
                }
            }
            const std::string_view call = GetParam().called;
            const bool is_needed =
                call == "io_uring_enter" || (call != "io_uring_setup" && !ran_before);
            return is_needed ? has(heard, call) : same(heard, "");
        });
        if (ended == no_filter) {
            GTEST_SKIP() << "seccomp is not permitted here";
        }
        EXPECT_EQ(ended, 0) << ran_before;
    }
}

/// Neither can the ring be entered, nor its operations be cancelled in another way.
TEST(DeniedCancel, EndsWhatTheRingHasInsteadOfWaitingForEver) {
    const int ended = in_child([] {
        set_report_handler([](std::string_view) noexcept {});
        std::unique_ptr<eddy::loop> l;
        try {
            l = std::make_unique<eddy::loop>(
                loop_options{.engine = engine_kind::io_uring, .wait_retry = 20ms});
        } catch (const std::system_error&) {
            return no_filter;
        }
        auto [first, second] = make_pipe();
        descriptor end(*l, std::move(first));
        std::byte buffer[8];
        io_operation leaving;
        io_operation staying;
        l->start(leaving, read(end, buffer));
        l->start(staying, wait(end, interest::readable));
        l->poll();
        if (!deny_calls({SYS_io_uring_register}, EPERM)) {
            return no_filter;
        }
        kernel::fail(kernel::call::uring_enter, ENOMEM, 0, 1'000'000);
        l->abandon(leaving);
        kernel::fail_nothing();
        std::error_code code;
        const std::string message = refusal_of([&] { l->run(); }, code);
        if (leaving.pending() || staying.pending() ||
            staying.result().system_error() != ECANCELED) {
            return 3;
        }
        return has(message, "io_uring_register (IORING_REGISTER_ENABLE_RINGS)");
    });
    if (ended == no_filter) {
        GTEST_SKIP() << "there is no ring, or seccomp is not permitted here";
    }
    EXPECT_EQ(ended, 0);
}

/// The ring of a thread that is gone is replaced, and there may be no descriptor for it.
class ReplacedRing : public ::testing::Test {
protected:
    void SetUp() override {
        try {
            loop_ = std::make_unique<eddy::loop>(
                loop_options{.engine = engine_kind::io_uring, .wait_retry = 50ms});
        } catch (const std::system_error& error) {
            GTEST_SKIP() << error.what();
        }
        std::thread([this] { loop_->poll(); }).join();
        set_report_handler([](std::string_view) noexcept {});
    }
    void TearDown() override {
        kernel::fail_nothing();
        set_report_handler(nullptr);
    }

    std::unique_ptr<eddy::loop> loop_;
};

TEST_F(ReplacedRing, IsTriedAgainWhileDescriptorsAreShort) {
    for (const int error : {EMFILE, ENFILE, ENOMEM}) {
        auto [first, second] = make_pipe();
        descriptor end(*loop_, std::move(first));
        std::byte buffer[8];
        recorder reading;
        std::thread([&] { loop_->poll(); }).join();
        kernel::fail(kernel::call::uring_setup, error, 0, 3);
        reading.start(*loop_, read(end, buffer));
        write_all(second.get(), "hello");
        EXPECT_NO_THROW(loop_->run_one());
        EXPECT_EQ(reading.count(), 5U) << reading.error();
    }
}

TEST_F(ReplacedRing, ThatNeverComesLeavesRunByNameAndEndsWhatIsPending) {
    auto [first, second] = make_pipe();
    descriptor end(*loop_, std::move(first));
    std::byte buffer[8];
    io_operation reading;
    loop_->start(reading, read(end, buffer));
    kernel::fail(kernel::call::uring_setup, EMFILE, 0, 1'000'000);
    std::error_code code;
    const std::string message = refusal_of([&] { loop_->run(); }, code);
    EXPECT_EQ(code, std::errc::too_many_files_open);
    EXPECT_EQ(has(message, "io_uring_setup"), 0);
    EXPECT_FALSE(reading.pending());
    EXPECT_EQ(reading.result().error(), std::errc::operation_canceled);
}

TEST_F(EngineChoice, OfARingIsSaidInWordsToo) {
    try {
        const eddy::loop l({.engine = engine_kind::io_uring});
        EXPECT_EQ(l.engine_choice(), "io_uring: asked for");
    } catch (const std::system_error& error) {
        GTEST_SKIP() << error.what();
    }
    EXPECT_EQ(eddy::loop({.engine = engine_kind::best}).engine_choice(),
              "io_uring: the best that works here");
    ::setenv("EDDY_ENGINE", "io_uring", 1);
    EXPECT_EQ(eddy::loop().engine_choice(), "io_uring: asked for by EDDY_ENGINE");
}

#else

TEST_F(EngineChoice, SaysThatThereIsNoRingInThisBuild) {
    const eddy::loop l({.engine = engine_kind::best});
    EXPECT_EQ(same(l.engine_choice(), "io_uring: not in this build of eddy; epoll"), 0);
}

#endif

TEST_F(EngineChoice, NamesTheCallOfEveryEngineThatCannotBeMade) {
    const auto refused = [](engine_kind kind, kernel::call call) {
        kernel::fail(call, EMFILE);
        std::error_code code;
        const std::string message = refusal_of([&] { const eddy::loop l({.engine = kind}); }, code);
        kernel::fail_nothing();
        EXPECT_EQ(code, std::errc::too_many_files_open) << message;
        return message;
    };
    using enum engine_kind;
    EXPECT_EQ(has(refused(epoll, kernel::call::epoll_create), "epoll: epoll_create1: "), 0);
    EXPECT_EQ(has(refused(epoll, kernel::call::eventfd), "epoll: eventfd: "), 0);
    EXPECT_EQ(has(refused(epoll, kernel::call::epoll_ctl), "epoll: epoll_ctl: "), 0);
    EXPECT_EQ(has(refused(poll, kernel::call::eventfd), "poll: eventfd: "), 0);
}

TEST_F(EngineChoice, MakesNoRingUnlessItIsAskedFor) {
    const int ended = in_child([] {
        if (!filter_calls({SYS_io_uring_setup}, SECCOMP_RET_KILL_PROCESS)) {
            return no_filter;
        }
        for (const engine_kind kind :
             {engine_kind::automatic, engine_kind::epoll, engine_kind::poll}) {
            eddy::loop l({.engine = kind});
            if (!works(l)) {
                return 1;
            }
        }
        return 0;
    });
    if (ended == no_filter) {
        GTEST_SKIP() << "seccomp is not permitted here";
    }
    EXPECT_EQ(ended, 0);
}

}  // namespace
}  // namespace eddy::test::engine_choice_test
