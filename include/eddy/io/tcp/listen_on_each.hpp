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

/// One acceptor for each loop of the group, in their order, all on the same address; the kernel
/// spreads the connections over them (SO_REUSEPORT). With port 0 the first one chooses it. Throws
/// std::system_error.
///
/// Thread: before the group is started; then each acceptor belongs to the thread of its loop. They
/// must not outlive the group, and may be destroyed when it was joined.
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
