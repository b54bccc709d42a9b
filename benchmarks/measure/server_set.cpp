// SPDX-License-Identifier: Apache-2.0

// Keeps the servers that work, and the reasons of those that do not.
#include "measure/server_set.hpp"

#include <stdexcept>

#include "measure/cores.hpp"

namespace bench {

server_set::server_set(std::string_view suite, const options& chosen, int core,
                       const command& extra) {
    for (subject& s : subjects_of(suite, chosen)) {
        place p{std::move(s), nullptr, ""};
        try {
            p.up = std::make_unique<server>(p.what, core, extra);
        } catch (const std::runtime_error& e) {
            p.missing = e.what();
        }
        places_.push_back(std::move(p));
    }
}

std::vector<std::string> server_set::names() const {
    std::vector<std::string> all;
    for (const place& p : places_) all.push_back(p.what.name);
    return all;
}

void server_set::set_batch(bool batch) {
    for (const place& p : places_) {
        if (p.up) set_batch_scheduling(p.up->pid(), batch);
    }
}

void server_set::for_each(rounds& found, const std::function<void(std::size_t)>& what) {
    for_each_rotated(found, 0, what);
}

void server_set::for_each_rotated(rounds& found, unsigned round,
                                  const std::function<void(std::size_t)>& what) {
    for (std::size_t k = 0; k < places_.size(); ++k) {
        attempt(found, (k + round) % places_.size(), what);
    }
}

void server_set::attempt(rounds& found, std::size_t i,
                         const std::function<void(std::size_t)>& what) {
    place& p = places_[i];
    if (p.up) {
        try {
            what(i);
        } catch (const std::runtime_error& e) {
            p.missing = e.what();
            p.up.reset();
        }
    }
    if (!p.up) found.fail(i, p.missing);
}

}  // namespace bench
