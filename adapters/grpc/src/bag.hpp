// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "abi.hpp"

#include <eddy/pollset/pollset_set.hpp>

#include <memory>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace eddy::grpc_adapter {

/// gRPC's pollset_set. It is made by `new`, and end() is its end.
///
/// gRPC relies on a property of its own engines: a descriptor that a pollset got through a set is
/// polled there for as long as both live, even after the two were separated. (A connection whose
/// handshake is done waits for the peer's settings in this way.) So descriptors and ties between
/// bags stay until one side is gone, and a bag stays until its last descriptor is gone.
///
/// One lock guards all bags, because they change with connections, not with calls.
class bag final {
public:
    bag();
    bag(const bag&) = delete;
    bag& operator=(const bag&) = delete;

    void add(watched_fd& fd);
    void add(bag& item);
    /// Adds a pollset. gRPC may add one several times, and removes it as often.
    void add(lent_pollset& set);
    void remove(lent_pollset& set);
    /// Removes all pollsets, and ends the bag as soon as it has no descriptors.
    void end();

    /// Removes `fd`, which is about to be orphaned, from its bags. Returns the bags that end with
    /// it, which must be deleted afterwards.
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
