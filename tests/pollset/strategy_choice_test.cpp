// SPDX-License-Identifier: Apache-2.0
// Which strategy a domain gets, and what is said if it gets none.
#include "kernel/call.hpp"
#include "support/pollset_fixture.hpp"

#include <eddy/base/error.hpp>

#include <cerrno>
#include <cstdlib>
#include <string>

namespace eddy::test::strategy_choice_test {
namespace {

class StrategyChoice : public ::testing::Test {
protected:
    void SetUp() override {
        ::unsetenv("EDDY_POLL_STRATEGY");
        fds_ = open_fds();
    }
    void TearDown() override {
        kernel::fail_nothing();
        ::unsetenv("EDDY_POLL_STRATEGY");
        EXPECT_EQ(open_fds(), fds_);
    }

    static std::system_error refusal(poll_domain_options options = {}) {
        try {
            const poll_domain made(options);
            ADD_FAILURE() << "it was made: " << to_string(made.strategy());
        } catch (const std::system_error& e) {
            return e;
        }
        return std::system_error(std::error_code(), "not refused");
    }
    static void expect_says(const std::system_error& e, const char* word) {
        EXPECT_NE(std::string(e.what()).find(word), std::string::npos) << e.what();
    }

private:
    std::size_t fds_ = 0;
};

TEST_F(StrategyChoice, IsDomainIfNothingIsAskedFor) {
    EXPECT_EQ(poll_domain().strategy(), poll_strategy::domain);
}

TEST_F(StrategyChoice, IsWhatTheEnvironmentNames) {
    for (const poll_strategy kind : {poll_strategy::domain, poll_strategy::epoll1,
                                     poll_strategy::epollex, poll_strategy::poll}) {
        ::setenv("EDDY_POLL_STRATEGY", to_string(kind), 1);
        EXPECT_EQ(poll_domain().strategy(), kind);
    }
    ::setenv("EDDY_POLL_STRATEGY", "", 1);
    EXPECT_EQ(poll_domain().strategy(), poll_strategy::domain);
}

TEST_F(StrategyChoice, OfTheProgramGoesBeforeTheEnvironment) {
    ::setenv("EDDY_POLL_STRATEGY", "poll", 1);
    EXPECT_EQ(poll_domain({.strategy = poll_strategy::epoll1}).strategy(), poll_strategy::epoll1);
}

TEST_F(StrategyChoice, ThatDoesNotExistIsAnErrorThatNamesThoseThatDo) {
    for (const char* const wrong : {"epoll", "Domain", "automatic", "poll "}) {
        ::setenv("EDDY_POLL_STRATEGY", wrong, 1);
        const std::system_error e = refusal();
        EXPECT_EQ(e.code(), std::errc::invalid_argument);
        for (const char* const word : {"EDDY_POLL_STRATEGY", wrong, "domain", "epollex"}) {
            expect_says(e, word);
        }
    }
}

TEST_F(StrategyChoice, FallsBackToPollWithoutEpoll) {
    for (const int error : {ENOSYS, EPERM, EACCES}) {
        kernel::fail(kernel::call::epoll_create, error, 0, 2);
        EXPECT_EQ(poll_domain().strategy(), poll_strategy::poll);
        kernel::fail_nothing();
    }
    kernel::fail(kernel::call::epoll_create, EPERM);
    EXPECT_EQ(poll_domain().strategy(), poll_strategy::epoll1) << "the second one, then";
}

TEST_F(StrategyChoice, DoesNotFallBackBecauseDescriptorsAreShort) {
    kernel::fail(kernel::call::epoll_create, EMFILE);
    EXPECT_EQ(refusal().code(), std::errc::too_many_files_open);
}

TEST_F(StrategyChoice, ThatWasAskedForIsNotReplacedButRefused) {
    for (const poll_strategy kind :
         {poll_strategy::domain, poll_strategy::epoll1, poll_strategy::epollex}) {
        for (const bool by_name : {false, true}) {
            kernel::fail(kernel::call::epoll_create, ENOSYS);
            if (by_name) {
                ::setenv("EDDY_POLL_STRATEGY", to_string(kind), 1);
            }
            const std::system_error e =
                refusal({.strategy = by_name ? poll_strategy::automatic : kind});
            ::unsetenv("EDDY_POLL_STRATEGY");
            EXPECT_EQ(e.code(), make_error_code(errc::strategy_denied));
            expect_says(e, to_string(kind));
            expect_says(e, "poll_strategy::automatic");
        }
    }
    kernel::fail(kernel::call::eventfd, EMFILE);
    EXPECT_EQ(refusal({.strategy = poll_strategy::domain}).code(), std::errc::too_many_files_open);
}

TEST_F(StrategyChoice, EpollexNeedsExclusiveWaits) {
    kernel::fail(kernel::call::epoll_ctl, EINVAL, 1);  // the first is the eventfd that wakes
    EXPECT_EQ(refusal({.strategy = poll_strategy::epollex}).code(),
              make_error_code(errc::strategy_denied));
}

TEST_F(StrategyChoice, PollNeedsNothingOfEpoll) {
    for (const auto call : {kernel::call::epoll_create, kernel::call::epoll_ctl}) {
        kernel::fail(call, ENOSYS, 0, 100);
    }
    poll_domain domain({.strategy = poll_strategy::poll});
    pollset set(domain);
    auto [read, write] = make_pipe();
    held_handle handle(domain, std::move(read));
    ASSERT_FALSE(set.add(*handle));
    noted readable;
    ASSERT_FALSE(handle->notify_on_read(readable));
    write_all(write.get(), "x");
    EXPECT_EQ(*set.work(clock::now() + 5s), work_end::ran);
}

TEST_F(StrategyChoice, APollsetThatGetsNoDescriptorSaysSo) {
    poll_domain domain({.strategy = poll_strategy::poll});
    kernel::fail(kernel::call::eventfd, EMFILE);
    try {
        const pollset set(domain);
        FAIL() << "it was made";
    } catch (const std::system_error& e) {
        EXPECT_EQ(e.code(), std::errc::too_many_files_open);
    }
}

}  // namespace
}  // namespace eddy::test::strategy_choice_test
