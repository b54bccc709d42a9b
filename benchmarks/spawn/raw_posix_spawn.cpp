// SPDX-License-Identifier: Apache-2.0
// Children on bare posix_spawn and waitpid: no loop at all.

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "spawn/harness.hpp"

namespace {

template <class Handler>
class posix_spawner {
public:
    explicit posix_spawner(Handler& handler) : handler_(handler) {}

    void spawn() {
        char* const argv[] = {const_cast<char*>(bench::program), nullptr};
        const int error = ::posix_spawn(&child_, bench::program, nullptr, nullptr, argv, ::environ);
        if (error != 0) bench::die("posix_spawn", error);
    }
    void run() {
        while (!stopped_) {
            int status = 0;
            bench::must(::waitpid(child_, &status, 0), "waitpid");
            handler_.ended(WIFEXITED(status) && WEXITSTATUS(status) == 0);
        }
    }
    void stop() { stopped_ = true; }

private:
    Handler& handler_;
    pid_t child_ = 0;
    bool stopped_ = false;
};

}  // namespace

int main(int argc, char** argv) { return bench::spawn_main<posix_spawner>(argc, argv); }
