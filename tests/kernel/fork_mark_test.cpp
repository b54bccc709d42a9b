// SPDX-License-Identifier: Apache-2.0
#include "kernel/fork_mark.hpp"
#include "kernel/call.hpp"
#include "support/in_child.hpp"

#include <cerrno>
#include <cstdint>
#include <set>
#include <thread>
#include <vector>

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

namespace eddy::test::fork_mark_test {
namespace {

using eddy::kernel::process_mark;
using eddy::test::in_child;
using eddy::test::in_pid_namespace;
using eddy::test::not_permitted;

TEST(ProcessMark, StaysTheSameAlsoAfterAForkInTheParent) {
    const std::uint64_t mark = process_mark();
    EXPECT_NE(mark, 0U);
    EXPECT_EQ(process_mark(), mark);
    EXPECT_EQ(in_child([] { return 0; }), 0);
    EXPECT_EQ(process_mark(), mark);
}

TEST(ProcessMark, IsTheSameInEveryThreadThatAsksFirst) {
    EXPECT_EQ(in_child([] {
                  // Wiped by the fork, so that these threads are the first to ask.
                  std::vector<std::uint64_t> marks(4);
                  std::vector<std::thread> threads;
                  for (std::uint64_t& mark : marks) {
                      threads.emplace_back([&mark] { mark = process_mark(); });
                  }
                  for (std::thread& thread : threads) {
                      thread.join();
                  }
                  return std::set<std::uint64_t>(marks.begin(), marks.end()).size() == 1 ? 0 : 1;
              }),
              0);
}

TEST(ProcessMark, DiffersInAChildAndInItsChild) {
    const std::uint64_t mark = process_mark();
    EXPECT_EQ(in_child([mark] {
                  const std::uint64_t mine = process_mark();
                  EXPECT_NE(mine, mark);
                  EXPECT_EQ(process_mark(), mine);
                  return in_child([mark, mine] {
                      return process_mark() != mine && process_mark() != mark ? 0 : 1;
                  });
              }),
              0);
}

/// Started anew, so that nobody has asked for a mark yet. Each of the two calls may fail.
TEST(ProcessMarkDeathTest, DiffersInAChildAlsoWithoutAPageThatIsWiped) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    for (const unsigned made_before : {0U, 1U}) {
        const auto in_a_fresh_process = [made_before] {
            kernel::fail(kernel::call::memory, ENOMEM, made_before);
            const std::uint64_t mark = process_mark();
            const bool failed = kernel::fired(kernel::call::memory) == 1;
            kernel::fail_nothing();
            const int differs = in_child([mark] { return process_mark() != mark ? 0 : 1; });
            ::_exit(failed && mark != 0 && process_mark() == mark && differs == 0 ? 0 : 1);
        };
        EXPECT_EXIT(in_a_fresh_process(), ::testing::ExitedWithCode(0), "");
    }
}

TEST(ProcessMark, DiffersInAChildThatHasTheSamePid) {
    // The first process of every pid namespace is number 1.
    const int result = in_pid_namespace([] {
        const std::uint64_t outer = process_mark();
        EXPECT_EQ(::getpid(), 1);
        return in_pid_namespace([outer] {
            EXPECT_EQ(::getpid(), 1);
            return process_mark() != outer ? 0 : 1;
        });
    });
    if (result == not_permitted) {
        GTEST_SKIP() << "this user may not make pid namespaces";
    }
    EXPECT_EQ(result, 0);
}

TEST(FactsOfFork, APageCanBeWipedInTheChildOnly) {
    void* const memory =
        ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(memory, MAP_FAILED);
    ASSERT_EQ(::madvise(memory, 4096, MADV_WIPEONFORK), 0);
    auto* const number = static_cast<volatile int*>(memory);
    *number = 5;
    EXPECT_EQ(in_child([number] { return *number; }), 0);
    EXPECT_EQ(*number, 5);
    ::munmap(memory, 4096);
}

}  // namespace
}  // namespace eddy::test::fork_mark_test
