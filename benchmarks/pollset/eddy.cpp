// SPDX-License-Identifier: Apache-2.0
// eddy's pollsets, with the strategy that EDDY_POLL_STRATEGY names. BENCH_OWN_DOMAINS=1: each
// pollset is in a domain of its own.

#include <eddy/pollset/pollset.hpp>

#include <cstdlib>
#include <memory>
#include <system_error>
#include <vector>

#include "pollset/harness.hpp"

namespace {

class eddy_pollsets {
public:
    explicit eddy_pollsets(unsigned sets) {
        const bool own = std::getenv("BENCH_OWN_DOMAINS") != nullptr;
        try {
            for (unsigned i = 0; i < (own ? sets : 1); ++i) domains_.emplace_back();
        } catch (const std::system_error& e) {
            std::fprintf(stderr, "%s\n", e.what());
            std::exit(bench::exit_unavailable);
        }
        for (unsigned i = 0; i < sets; ++i) {
            sets_.push_back(std::make_unique<eddy::pollset>(domains_[own ? i : 0]));
        }
    }
    ~eddy_pollsets() {
        eddy::callback ignored([](std::error_code) {});
        for (member& m : members_) m.handle.orphan(ignored);
    }

    void add(unsigned set, bench::player& p) {
        eddy::poll_domain& domain = domains_[domains_.size() == 1 ? 0 : set];
        member& m = members_.emplace_back(domain, p);
        if (auto error = sets_[set]->add(m.handle)) bench::die("add", error.value());
        m.arm();
    }

    bool work(unsigned set) {
        const auto end = sets_[set]->work();
        if (!end) bench::die("work", end.error().value());
        return *end != eddy::work_end::shut_down;
    }

    void stop() {
        for (auto& s : sets_) {
            bench::score down;
            eddy::callback done([&](std::error_code) { down.finished(); });
            s->shutdown(done);
            down.await(1);
        }
    }

    bench::served costs() const {
        bench::served all;
        for (const eddy::poll_domain& d : domains_) {
            const eddy::poll_counters c = d.counters();
            all.waits += static_cast<double>(c.waits);
            all.thread_wakes += static_cast<double>(c.thread_wakes);
            all.poller_wakes += static_cast<double>(c.poller_wakes);
        }
        return all;
    }

private:
    struct member final : eddy::closure {
        member(eddy::poll_domain& domain, bench::player& p)
            : closure(&happened), player(p), handle(domain, eddy::unique_fd(::dup(p.fd()))) {}

        static void happened(closure& self, std::error_code error) {
            auto& m = static_cast<member&>(self);
            if (error) return;
            const bool answers = m.player.heard();
            m.arm();  // from here on another thread may have its next event
            if (answers) m.player.answer();
        }
        void arm() {
            if (auto error = handle.notify_on_read(*this)) bench::die("notify", error.value());
        }

        bench::player& player;
        eddy::poll_handle handle;
    };

    std::deque<eddy::poll_domain> domains_;
    std::vector<std::unique_ptr<eddy::pollset>> sets_;
    std::deque<member> members_;
};

}  // namespace

int main(int argc, char** argv) { return bench::pollset_main<eddy_pollsets>(argc, argv); }
