// SPDX-License-Identifier: Apache-2.0

// Keeps the contents of gRPC's pollset sets, and ends bags when their last descriptor is gone.
#include "bag.hpp"

#include "domain.hpp"
#include "lent_pollset.hpp"
#include "watched_fd.hpp"

#include <mutex>
#include <utility>

namespace eddy::grpc_adapter {

namespace {

std::mutex bags_mutex;

}  // namespace

bag::bag() : set_(domain()) {}

void bag::add(watched_fd& fd) {
    const std::lock_guard lock(bags_mutex);
    if (fds_.insert(&fd).second) {
        fd.bags_.push_back(this);
        log_if(set_.add(fd.handle()), "pollset_set_add_fd");
    }
}

void bag::add(bag& item) { log_unless_there(set_.add(item.set_), "pollset_set_add_pollset_set"); }

void bag::add(lent_pollset& set) {
    const std::lock_guard lock(bags_mutex);
    if (++pollsets_[&set] == 1) {
        set.tie();
        log_if(set_.add(set.set()), "pollset_set_add_pollset");
    }
}

void bag::remove(lent_pollset& set) {
    const std::lock_guard lock(bags_mutex);
    const auto at = pollsets_.find(&set);
    if (at != pollsets_.end() && --at->second == 0) {
        pollsets_.erase(at);
        log_unless_gone(set_.remove(set.set()), "pollset_set_del_pollset");
        set.untie();
    }
}

void bag::end() {
    std::unique_lock lock(bags_mutex);
    for (const auto& [set, count] : std::exchange(pollsets_, {})) {
        log_unless_gone(set_.remove(set->set()), "pollset_set_destroy");
        set->untie();
    }
    ended_ = true;
    if (fds_.empty()) {
        lock.unlock();
        delete this;
    }
}

std::vector<std::unique_ptr<bag>> bag::forget(watched_fd& fd) {
    const std::lock_guard lock(bags_mutex);
    std::vector<std::unique_ptr<bag>> over;
    for (bag* const b : std::exchange(fd.bags_, {})) {
        b->fds_.erase(&fd);
        if (b->ended_ && b->fds_.empty()) {
            over.emplace_back(b);
        }
    }
    return over;
}

}  // namespace eddy::grpc_adapter
