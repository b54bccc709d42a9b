// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <thread>

namespace eddy::test {

/// Knows which threads this process has had from the beginning. The kernel's own workers for
/// io_uring are left out: they make calls that would block, run no code of this process, and end
/// by themselves.
class thread_census {
public:
#ifdef __SANITIZE_THREAD__
    /// TSan starts a thread of its own beside the first one of the program.
    thread_census() {
        std::thread([] {}).join();
        before_ = threads();
    }
#endif

    /// The numbers of the threads that were started since, and have not ended.
    std::set<std::string> started() const {
        const std::set<std::string> now = threads();
        std::set<std::string> fresh;
        std::set_difference(now.begin(), now.end(), before_.begin(), before_.end(),
                            std::inserter(fresh, fresh.end()));
        return fresh;
    }

private:
    static std::set<std::string> threads() {
        std::set<std::string> found;
        for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task")) {
            std::string name;
            std::ifstream(thread.path() / "comm") >> name;
            // One that has ended meanwhile has no name any more.
            if (!name.empty() && !name.starts_with("iou-wrk-")) {
                found.insert(thread.path().filename());
            }
        }
        return found;
    }

    std::set<std::string> before_ = threads();
};

}  // namespace eddy::test
