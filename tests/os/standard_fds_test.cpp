// SPDX-License-Identifier: Apache-2.0
// A program may be started with its standard streams closed.
#include "support/standard_fds.hpp"
#include "os/process_fixture.hpp"
#include "os/signal_fixture.hpp"

#include <eddy/os/child_source.hpp>
#include <eddy/os/process_reservation.hpp>
#include <eddy/os/signal_source.hpp>

namespace eddy::test::standard_fds_test {
namespace {

class ProcessStandardFds : public ProcessTest {
protected:
    /// In a forked child whose standard streams are closed: what it returns.
    static int without_standard_fds(int (*body)(eddy::loop& home)) {
        return in_child([body] {
            close_standard_fds();
            eddy::loop home({.engine = GetParam()});
            return body(home);
        });
    }
    static bool ends(eddy::loop& home, process_handle& process, exit_status& status) {
        exit_recorder wait(process);
        const time_point limit = clock::now() + patience;
        while (!wait.ended() && clock::now() < limit) {
            home.run(run_mode::stopped, {.until = limit, .completions = 1});
        }
        status = wait.status();
        return wait.ended() && !wait.error();
    }
};
EDDY_ON_EVERY_ENGINE(ProcessStandardFds);

TEST_P(ProcessStandardFds, AreNotTakenByASpawnAndItsPipes) {
    EXPECT_EQ(
        without_standard_fds([](eddy::loop& home) {
            process_options options = shell("read x; echo $x; echo $x >&2; exit 7");
            options.in = options.out = options.err = stdio::pipe();
            process_handle process(home, options);
            if (!standard_fds_are_free()) {
                return 1;
            }
            if (::write(process.stdio_pipe(0).native_handle(), "hello\n", 6) != 6) {
                return 2;
            }
            exit_status status;
            if (!ends(home, process, status) || status.code != 7) {
                return 3;
            }
            for (const int fd : {1, 2}) {
                std::string line(16, '\0');
                const int pipe = process.stdio_pipe(fd).native_handle();
                if (::read(pipe, line.data(), line.size()) != 6 || line.substr(0, 6) != "hello\n") {
                    return 4;
                }
            }
            return standard_fds_are_free() ? 0 : 5;
        }),
        0);
}

TEST_P(ProcessStandardFds, AreNotTakenByWhatIsReservedAndGoesNowhere) {
    EXPECT_EQ(without_standard_fds([](eddy::loop& home) {
                  process_options options = shell("cat; echo gone; exit 7");
                  options.in = options.out = options.err = stdio::null();
                  process_reservation reserved(home, options);
                  if (!standard_fds_are_free()) {
                      return 1;
                  }
                  process_handle process;
                  if (reserved.spawn(process) || !standard_fds_are_free()) {
                      return 2;
                  }
                  exit_status status;
                  return ends(home, process, status) && status.code == 7 ? 0 : 3;
              }),
              0);
}

TEST_P(ProcessStandardFds, AreNotTakenByAnAdoption) {
    EXPECT_EQ(without_standard_fds([](eddy::loop& home) {
                  const pid_t child = ::fork();
                  if (child == 0) {
                      ::_exit(7);
                  }
                  process_handle process;
                  if (process_handle::adopt(home, child, process) || !standard_fds_are_free()) {
                      return 1;
                  }
                  exit_status status;
                  return ends(home, process, status) && status.code == 7 ? 0 : 2;
              }),
              0);
}

TEST_P(ProcessStandardFds, AreNotTakenByASignalSource) {
    EXPECT_EQ(without_standard_fds([](eddy::loop& home) {
                  const blocked_signals blocked({SIGUSR1, SIGUSR2});
                  signal_source signals(home, {SIGUSR1});
                  if (signals.attach({SIGUSR2}) || !standard_fds_are_free()) {
                      return 1;
                  }
                  signal_recorder r([&](signal_recorder&) { home.stop(); });
                  if (signals.wait(r.wait, signal_set{SIGUSR1, SIGUSR2})) {
                      return 2;
                  }
                  send_signal(SIGUSR2);
                  home.run_for(patience);
                  if (r.signals().size() != 1 || r.signals()[0].signum != SIGUSR2) {
                      return 3;
                  }
                  return standard_fds_are_free() ? 0 : 4;
              }),
              0);
}

TEST_P(ProcessStandardFds, AreNotTakenByAChildSource) {
    EXPECT_EQ(without_standard_fds([](eddy::loop& home) {
                  static bool told;
                  told = false;
                  const blocked_signals blocked{SIGCHLD};
                  child_source children(home);
                  child_wait wait([](child_wait& w) noexcept {
                      told = !w.error() && w.event().what == child_change::ended;
                      loop::current()->stop();
                  });
                  if (children.wait_any(wait) || !standard_fds_are_free()) {
                      return 1;
                  }
                  if (::fork() == 0) {
                      ::_exit(7);
                  }
                  home.run_for(patience);
                  if (!told) {
                      return 2;
                  }
                  return standard_fds_are_free() ? 0 : 3;
              }),
              0);
}

}  // namespace
}  // namespace eddy::test::standard_fds_test
