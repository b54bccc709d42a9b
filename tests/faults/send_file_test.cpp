// SPDX-License-Identifier: Apache-2.0
#include "faults/received.hpp"
#include "faults/with_every_fault.hpp"

#include <eddy/async/async.hpp>
#include <eddy/io/io.hpp>
#include <eddy/io/send_file.hpp>

#include <string>
#include <string_view>

#include <fcntl.h>

namespace eddy::test::send_file_faults {

namespace {

constexpr std::string_view content = "0123456789";

/// A file goes to a peer.
void sends(eddy::loop& loop, attempt& a) {
    static const scratch_directory scratch;
    static const std::string path = [] {
        static_cast<void>(scratch.file("page", content));
        return scratch.path("page");
    }();
    auto [server, client] = tcp_pair();
    a.guard([&, fd = &server] {
        const tcp::socket socket(loop, std::move(*fd));
        const file page(loop, unique_fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC)));
        a.run(loop, send_file(socket, page, 0, content.size()) | ex::then([&](std::size_t size) {
                        return size == content.size() && received_by(client.get()) == content;
                    }));
    });
}

constexpr kernel::call told[] = {kernel::call::fcntl};
constexpr loop_scenario tried{.run = &sends, .tells = told};
EDDY_SCENARIO(SendFile, tried);

}  // namespace

}  // namespace eddy::test::send_file_faults
