// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "abi.hpp"

#include <eddy/pollset/pollset_set.hpp>

#include <memory>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace eddy::grpc_adapter {

/// gRPC's pollset_set. Made by `new`; end() is its end.
///
/// gRPC counts on what its own engines do: a descriptor that a pollset got through a set is polled
/// there for as long as both live, although the way is cut (a connection whose handshake is done
/// waits for the peer's settings like that). So descriptors stay in a bag, and ties between bags
/// stay, until one of them is gone; and a bag stays until its last descriptor is.
///
/// One lock for all bags: they change with connections, not with calls.
class bag final {
public:
    bag();
    bag(const bag&) = delete;
    bag& operator=(const bag&) = delete;

    void add(watched_fd& fd);
    void add(bag& item);
    /// gRPC may add a pollset several times, and removes it as often.
    void add(lent_pollset& set);
    void remove(lent_pollset& set);
    /// Pollsets leave.
    void end();

    /// `fd` is about to be orphaned. Returns what goes with it, to be deleted afterwards.
    static std::vector<std::unique_ptr<bag>> forget(watched_fd& fd);

private:
    ~bag() = default;
    friend std::default_delete<bag>;

    pollset_set set_;
    std::unordered_set<watched_fd*> fds_;
    std::unordered_map<lent_pollset*, unsigned> pollsets_;
    bool ended_ = false;
};

}  // namespace eddy::grpc_adapter
