// SPDX-License-Identifier: Apache-2.0
#include "kernel/call.hpp"
#include "kernel/io.hpp"
#include "kernel/sigpipe_guard.hpp"
#include "support/fds.hpp"
#include "support/in_child.hpp"

#include <csignal>
#include <functional>

#include <pthread.h>
#include <sys/uio.h>
#include <unistd.h>

#include <gtest/gtest.h>

namespace eddy::test::sigpipe_test {
namespace {

using namespace eddy;
using kernel::sigpipe_guard;

bool sigpipe_pending() {
    sigset_t pending;
    sigpending(&pending);
    return sigismember(&pending, SIGPIPE) == 1;
}

bool sigpipe_blocked() {
    sigset_t mask;
    pthread_sigmask(SIG_BLOCK, nullptr, &mask);
    return sigismember(&mask, SIGPIPE) == 1;
}

void block_sigpipe() {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &set, nullptr);
}

/// In a child, which SIGPIPE kills: 1000 + SIGPIPE.
int survives(const std::function<void()>& body) {
    return test::in_child([&] {
        std::signal(SIGPIPE, SIG_DFL);
        body();
        return 0;
    });
}

TEST(SigpipeGuard, TakesAwayOneThatCameMeanwhile) {
    EXPECT_EQ(survives([] {
                  {
                      const sigpipe_guard guard;
                      EXPECT_TRUE(sigpipe_blocked());
                      ::raise(SIGPIPE);
                      EXPECT_TRUE(sigpipe_pending());
                  }
                  EXPECT_FALSE(sigpipe_pending());
                  EXPECT_FALSE(sigpipe_blocked());
              }),
              0);
}

TEST(SigpipeGuard, LeavesOneThatWasPendingBefore) {
    EXPECT_EQ(survives([] {
                  block_sigpipe();
                  ::raise(SIGPIPE);
                  {
                      const sigpipe_guard guard;
                      ::raise(SIGPIPE);
                  }
                  EXPECT_TRUE(sigpipe_pending());
                  EXPECT_TRUE(sigpipe_blocked());
              }),
              0);
}

TEST(SigpipeGuard, LeavesTheMaskAsItWas) {
    EXPECT_EQ(survives([] {
                  block_sigpipe();
                  {
                      const sigpipe_guard guard;
                      ::raise(SIGPIPE);
                  }
                  EXPECT_TRUE(sigpipe_blocked());
                  EXPECT_FALSE(sigpipe_pending());
              }),
              0);
}

/// With RWF_NOSIGNAL where the kernel has it, and without.
class PipeWithoutReader : public ::testing::TestWithParam<bool> {};

TEST_P(PipeWithoutReader, IsAnErrorAndNoSignal) {
    EXPECT_EQ(survives([] {
                  if (!GetParam()) {
                      kernel::fail(kernel::call::rwf_nosignal, 1, 0, UINT32_MAX);
                  }
                  auto pipe = test::make_pipe();
                  pipe.first.reset();
                  char byte = 'x';
                  const iovec one{&byte, 1};
                  for (int i = 0; i != 3; ++i) {
                      EXPECT_EQ(kernel::writev_pipe(pipe.second.get(), {&one, 1}),
                                io_result::system_error(EPIPE));
                  }
                  EXPECT_FALSE(sigpipe_pending());
                  EXPECT_FALSE(sigpipe_blocked());
              }),
              0);
}

TEST_P(PipeWithoutReader, IsNotMistakenForOneThatHasAReader) {
    if (!GetParam()) {
        kernel::fail(kernel::call::rwf_nosignal, 1, 0, UINT32_MAX);
    }
    const auto pipe = test::make_pipe();
    char bytes[] = {'a', 'b', 'c'};
    const iovec parts[] = {{bytes, 1}, {bytes + 1, 2}};
    EXPECT_EQ(kernel::writev_pipe(pipe.second.get(), parts), io_result::value(3));
    EXPECT_EQ(test::recv_exactly(pipe.first.get(), 3), "abc");
    kernel::fail_nothing();
}

INSTANTIATE_TEST_SUITE_P(Kernel, PipeWithoutReader, ::testing::Bool(), [](const auto& test) {
    return test.param ? "as_it_is" : "without_rwf_nosignal";
});

TEST(RwfNosignal, IsProbedOnceAndCanBeDenied) {
    const bool has = kernel::has_rwf_nosignal();
    EXPECT_EQ(kernel::has_rwf_nosignal(), has);
    const auto fds = test::open_fds();
    kernel::fail(kernel::call::rwf_nosignal, 1);
    EXPECT_FALSE(kernel::has_rwf_nosignal());
    EXPECT_EQ(kernel::has_rwf_nosignal(), has);
    EXPECT_EQ(test::open_fds(), fds);
    kernel::fail_nothing();
}

TEST(FactsOfSigpipe, APlainWriteToAPipeWithoutReaderKills) {
    EXPECT_EQ(survives([] {
                  auto pipe = test::make_pipe();
                  pipe.first.reset();
                  static_cast<void>(kernel::write(pipe.second.get(), "x", 1, -1));
              }),
              1000 + SIGPIPE);
}

}  // namespace
}  // namespace eddy::test::sigpipe_test
