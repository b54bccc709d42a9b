// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/ex/vocabulary.hpp>
#include <eddy/io/address.hpp>
#include <eddy/io/detail/connect/socket_calls.hpp>
#include <eddy/io/tcp/acceptor.hpp>
#include <eddy/io/tcp/listen.hpp>
#include <eddy/loop/loop_group.hpp>

#include <cstddef>
#include <vector>

namespace eddy::tcp {
EDDY_EX_BEGIN

/// Makes one acceptor for each loop of the group, in the order of the loops, all on one address.
/// The kernel spreads connections over them (SO_REUSEPORT). With port 0 the first acceptor chooses
/// the port. Throws std::system_error.
///
/// Thread: before the group is started; then each acceptor belongs to the thread of its loop. The
/// acceptors must not outlive the group, and may be destroyed after it was joined.
inline std::vector<acceptor> listen_on_each(loop_group& group, address where,
                                            listen_options options = {}) {
    options.reuse_port = true;
    std::vector<acceptor> made;
    made.reserve(group.size());
    for (std::size_t i = 0; i != group.size(); ++i) {
        made.emplace_back(group.at(i), where, options);
        detail::throw_if(made.front().local_address(where), "tcp::listen_on_each", where);
    }
    return made;
}

EDDY_EX_END
}  // namespace eddy::tcp
