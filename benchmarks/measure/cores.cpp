// SPDX-License-Identifier: Apache-2.0

// Chooses cores, and asks the kernel for CPU times.
#include "measure/cores.hpp"

#include <dirent.h>
#include <sched.h>
#include <sys/resource.h>

#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>

namespace bench {

namespace {

/// The cores that the driver was allowed when it began, before it pinned itself.
const cpu_set_t& allowed_cores() {
    static const cpu_set_t allowed = [] {
        cpu_set_t set;
        CPU_ZERO(&set);
        ::sched_getaffinity(0, sizeof set, &set);
        return set;
    }();
    return allowed;
}

}  // namespace

core_pair choose_cores() {
    const cpu_set_t& allowed = allowed_cores();
    int first = -1;
    for (int i = 0; i < CPU_SETSIZE; ++i) {
        if (!CPU_ISSET(i, &allowed)) continue;
        if (first >= 0) return {first, i};
        first = i;
    }
    return {first, first};
}

void pin(pid_t pid, int core) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(core, &set);
    ::sched_setaffinity(pid, sizeof set, &set);
}

void unpin() {
    const cpu_set_t allowed = allowed_cores();
    ::sched_setaffinity(0, sizeof allowed, &allowed);
}

void set_batch_scheduling(pid_t pid, bool batch) {
    const sched_param none{};
    ::sched_setscheduler(pid, batch ? SCHED_BATCH : SCHED_OTHER, &none);
}

namespace {

std::uint64_t task_time_ns(const std::string& path) {
    unsigned long long ns = 0;
    std::unique_ptr<FILE, int (*)(FILE*)> file(std::fopen(path.c_str(), "re"), std::fclose);
    if (!file || std::fscanf(file.get(), "%llu", &ns) != 1) return 0;
    return ns;
}

}  // namespace

std::uint64_t cpu_time_ns(pid_t pid) {
    const std::string tasks = "/proc/" + std::to_string(pid) + "/task/";
    std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir(tasks.c_str()), ::closedir);
    if (!folder) throw std::runtime_error("the server has ended");
    std::uint64_t sum = 0;
    while (const dirent* entry = ::readdir(folder.get())) {
        if (entry->d_name[0] != '.') sum += task_time_ns(tasks + entry->d_name + "/schedstat");
    }
    return sum;
}

void raise_fd_limit() {
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
    limit.rlim_cur = limit.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace bench
