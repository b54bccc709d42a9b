// SPDX-License-Identifier: Apache-2.0

// The echo servers that run side by side.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "measure/rounds.hpp"
#include "measure/server.hpp"

namespace bench {

/// All servers of a suite, up at the same time. One that does not come up, or breaks later, keeps
/// its place with the reason, and the rest goes on.
class server_set {
public:
    server_set(std::string_view suite, const options& chosen, int core, const command& extra = {});

    std::size_t size() const noexcept { return places_.size(); }
    std::vector<std::string> names() const;
    server& at(std::size_t i) { return *places_[i].up; }

    void set_batch(bool batch);

    /// Calls `what(i)` for every server that is up; what it throws makes that server n/a for good.
    void for_each(rounds& found, const std::function<void(std::size_t)>& what);
    /// The same, starting with another one each round: nobody is always the first.
    void for_each_rotated(rounds& found, unsigned round,
                          const std::function<void(std::size_t)>& what);

private:
    struct place {
        subject what;
        std::unique_ptr<server> up;
        std::string missing;
    };
    void attempt(rounds& found, std::size_t i, const std::function<void(std::size_t)>& what);

    std::vector<place> places_;
};

}  // namespace bench
