// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "support/memory_faults.hpp"

#include <eddy/base/unique_fd.hpp>

#include <string>
#include <string_view>

namespace eddy::test {

/// A client that expects to be served or to be turned away: silence is what it does not expect.
class visitor {
public:
    /// A server that cannot be reached has ended the connection.
    explicit visitor(unsigned short port);

    void say(std::string_view text);
    /// Nothing more will be said.
    void hang_up();
    void reset();
    /// Waits until `text` is among what was heard: true; or until the connection ends: false. If
    /// neither happens soon, lets no more allocations of the server fail and goes on waiting, until
    /// the test has failed.
    bool hears(std::string_view text, memory_faults& of_server);
    /// Until the connection ends.
    void hears_out(memory_faults& of_server);
    const std::string& heard() const noexcept { return heard_; }

private:
    bool listen(int limit_ms);
    bool listen(memory_faults& of_server);

    unique_fd fd_;
    std::string heard_;
    bool over_ = false;
};

/// A visit: true if it was served as it should be, false if the server has ended the connection.
using visit = bool (*)(unsigned short port, memory_faults& of_server);

bool visit_echo(unsigned short port, memory_faults& of_server);
bool visit_chat(unsigned short port, memory_faults& of_server);
bool visit_files(unsigned short port, memory_faults& of_server);

}  // namespace eddy::test
