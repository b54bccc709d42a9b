// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/base/config.hpp>
#include <eddy/pollset/poll_domain.hpp>

#include <cstdint>
#include <system_error>
#include <vector>

namespace eddy {

class poll_handle;
class pollset;

/// A bag of handles for all the pollsets below it: the workers of a pollset that is in the bag, or
/// in a set that was added to it, serve the handles in the bag. Handles flow down, from a bag to
/// its items, never up. A handle that reaches a pollset by several ways stays there until the last
/// of them is cut.
///
/// Thread: any, except destruction. Lifetime: destruction cuts all its ties.
class EDDY_API pollset_set {
public:
    /// Throws std::system_error if there is no memory, or the process has forked.
    explicit pollset_set(poll_domain& domain = poll_domain::shared());
    pollset_set(const pollset_set&) = delete;
    pollset_set& operator=(const pollset_set&) = delete;
    ~pollset_set();

    /// Adds a handle, a pollset or a set. Errors change nothing: `file_exists` if it is in already,
    /// `invalid_argument` if it is of another domain, `operation_canceled` if it was orphaned or
    /// shut down, `not_enough_memory`, `errc::forked`, and those of pollset::add for a handle.
    std::error_code add(poll_handle& handle) noexcept;
    std::error_code add(pollset& set) noexcept;
    /// Adds a set as an item. `too_many_symbolic_link_levels` if a set would become its own item.
    std::error_code add(pollset_set& item) noexcept;

    /// Removes a handle, a pollset or a set. `no_such_file_or_directory` if it is not in.
    std::error_code remove(poll_handle& handle) noexcept;
    std::error_code remove(pollset& set) noexcept;
    std::error_code remove(pollset_set& item) noexcept;

private:
    detail::poll_core* core_;
    std::vector<poll_handle*> handles_;
    std::vector<pollset*> pollsets_;
    std::vector<pollset_set*> items_;
    std::vector<pollset_set*> bags_;  ///< sets that it is an item of
    std::uint64_t walk_ = 0;          ///< number of the last walk that came by
    pollset_set* next_ = nullptr;     ///< on that walk

    friend class detail::poll_core;
};

}  // namespace eddy
