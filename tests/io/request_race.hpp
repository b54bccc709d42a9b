// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "async/running.hpp"
#include "support/engine_fixture.hpp"
#include "support/random.hpp"

#include <eddy/io/io_sender.hpp>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <thread>
#include <vector>

namespace eddy::test {

/// The result as it is: bytes, an fd, what is ready.
struct as_raw {
    using signature = ex::set_value_t(int);
    template <class Receiver>
    void operator()(io_result result, Receiver&& receiver) const noexcept {
        ex::set_value(std::forward<Receiver>(receiver), static_cast<int>(result.raw()));
    }
};

/// One operation that is started, made possible and stopped at about the same time, again and
/// again. Besides these it has a prepare(), called before the start, which returns the operation:
/// an io_request, or a sender of an int or of nothing. All on the loop's thread, the loop not
/// running except in trigger().
class racer {
public:
    virtual ~racer() = default;
    /// What the operation waits for happens.
    virtual void trigger() {}
    /// The operation has ended with `result`, or was stopped if there is none. Checks that nothing
    /// was lost and makes everything as it was before prepare().
    virtual void check(std::optional<int> result) = 0;
};

/// A racer and its operation.
class lane {
public:
    enum class starter { loop, outside, other_thread };

    virtual ~lane() = default;
    virtual void prepare() = 0;
    virtual void start() = 0;
    virtual void stop() = 0;
    virtual const outcome& seen() const = 0;
    virtual racer& self() = 0;
    virtual void reset() = 0;

    starter by = starter::loop;
    bool early = false;  ///< the trigger comes right after the start
};

template <class Racer>
class lane_of final : public lane {
    static auto sender_of(eddy::loop& home, const io_request& request) {
        return io_sender<as_raw>(&home, request);
    }
    template <class Sender>
    static Sender sender_of(eddy::loop&, Sender sender) {
        return sender;
    }
    using sender_type =
        decltype(sender_of(std::declval<eddy::loop&>(), std::declval<Racer&>().prepare()));

public:
    explicit lane_of(eddy::loop& home) : home_(home), self_(home) {}

    void prepare() override { run_.emplace(sender_of(home_, self_.prepare())); }
    void start() override { run_->start(); }
    void stop() override { run_->stop(); }
    const outcome& seen() const override { return run_->seen; }
    racer& self() override { return self_; }
    void reset() override { run_.reset(); }

private:
    eddy::loop& home_;
    Racer self_;
    std::optional<running<sender_type>> run_;
};

/// A stop request from another thread against the completion.
class RequestRaceTest : public EngineTest {
protected:
    /// Several race in parallel, so that one meeting of the threads serves them all.
    template <class Racer>
    void race(std::size_t tries) {
        std::vector<std::unique_ptr<lane>> lanes;
        for (std::size_t i = 0; i < width; ++i) {
            lanes.push_back(std::make_unique<lane_of<Racer>>(loop()));
        }
        race(tries, lanes);
    }

    static std::size_t ordinary_tries() {
#ifdef __SANITIZE_THREAD__
        return 1'000;
#else
        return 10'000;
#endif
    }
    static std::size_t long_tries() { return scaled(10'000); }

private:
    static constexpr std::size_t width = 16;
    static constexpr unsigned longest_start = 14;  ///< doubled so often
    using lanes_type = std::vector<std::unique_ptr<lane>>;
    using starter = lane::starter;

    void race(std::size_t tries, lanes_type& lanes) {
        random_numbers random;
        stopper other(lanes, random.another());
        std::size_t stopped = 0;
        std::size_t raced = 0;
        const auto go = [&](std::size_t rounds) {
            for (std::size_t i = 0; i < rounds && !HasFailure(); ++i) {
                stopped += round(lanes, other, random);
                raced += width;
            }
        };
        go((tries + width - 1) / width);
        // On a busy machine one side may have won every time: then the other gets a longer start.
        for (unsigned start = 1; start <= longest_start && !HasFailure(); ++start) {
            if (stopped == 0) {
                other.favour_stop();
            } else if (stopped == raced) {
                other.favour_completion(start);
            } else {
                break;
            }
            go(4);
        }
        RecordProperty("stopped", static_cast<int>(stopped));
        if (HasFailure()) {
            return;
        }
        EXPECT_GT(stopped, 0U) << "the stop never came first: that was no race";
        EXPECT_LT(stopped, raced) << "the stop always came first: that was no race";
    }

    /// The other thread. It serves one round after the other.
    class stopper {
    public:
        stopper(lanes_type& lanes, std::mt19937_64 random)
            : lanes_(lanes), random_(random), thread_([this] { serve(); }) {}
        ~stopper() {
            begin(last);
            thread_.join();
        }
        /// Returns when the thread is at it.
        void begin(std::uint64_t round) {
            wanted_.store(round, std::memory_order_release);
            await(begun_, round);
        }
        void await_end(std::uint64_t round) { await(ended_, round); }
        /// From the next round on: it does not wait, or it waits 2^`start` times as long.
        void favour_stop() {
            at_once_ = true;
            pause_max_ = shortest_pause_max;
        }
        void favour_completion(unsigned start) {
            at_once_ = false;
            pause_max_ = shortest_pause_max << start;
        }
        /// The operations of the round are being started, and later: have been made possible.
        void starts(std::uint64_t round) { progress_.store(2 * round, std::memory_order_release); }
        void triggered(std::uint64_t round) {
            progress_.store(2 * round + 1, std::memory_order_release);
        }

    private:
        static constexpr std::uint64_t last = UINT64_MAX;
        static constexpr std::uint64_t shortest_pause_max = 2'000;
        static void await(const std::atomic<std::uint64_t>& counter, std::uint64_t value) {
            while (counter.load(std::memory_order_acquire) < value) {
                std::this_thread::yield();
            }
        }
        void serve() {
            for (std::uint64_t round = 1;; ++round) {
                await(wanted_, round);
                const bool over = wanted_.load(std::memory_order_acquire) == last;
                begun_.store(over ? last : round, std::memory_order_release);
                if (over) {
                    return;
                }
                for (const auto& l : lanes_) {
                    if (l->by == starter::other_thread) {
                        l->start();
                    }
                }
                // At once, or about when they start, or about when they end: so that each wins
                // often, with one core as with many.
                if (const std::uint64_t how = random_() % 3; how != 0 && !at_once_) {
                    await(progress_, 2 * round + how - 1);
                }
                const std::size_t first = random_() % lanes_.size();
                for (std::size_t i = 0; i < lanes_.size(); ++i) {
                    spin(random_() % pause_max_);
                    lanes_[(first + i) % lanes_.size()]->stop();
                }
                ended_.store(round, std::memory_order_release);
            }
        }

        lanes_type& lanes_;
        std::mt19937_64 random_;
        // Changed between rounds, which `wanted_` and `ended_` put in order.
        bool at_once_ = false;
        std::uint64_t pause_max_ = shortest_pause_max;
        std::atomic<std::uint64_t> wanted_{0};
        std::atomic<std::uint64_t> begun_{0};
        std::atomic<std::uint64_t> progress_{0};
        std::atomic<std::uint64_t> ended_{0};
        std::thread thread_;
    };

    static void spin(std::uint64_t steps) {
        for (std::uint64_t i = 0; i < steps; ++i) {
            std::atomic_signal_fence(std::memory_order_seq_cst);
        }
    }

    /// How many were stopped.
    std::size_t round(lanes_type& lanes, stopper& other, random_numbers& random) {
        for (const auto& l : lanes) {
            l->prepare();
            l->by = static_cast<starter>(random.below(3));
            l->early = random.one_in(2);
        }
        bool triggered = false;
        ++round_;
        loop().post([&] {
            other.starts(round_);
            for (const auto& l : lanes) {
                if (l->by == starter::loop) {
                    l->start();
                }
                if (l->early) {
                    l->self().trigger();
                }
            }
            loop().post([&] {
                spin(random.below(2'000));
                for (const auto& l : lanes) {
                    if (!l->early) {
                        l->self().trigger();
                    }
                }
                triggered = true;
                other.triggered(round_);
            });
        });
        other.begin(round_);
        for (const auto& l : lanes) {
            if (l->by == starter::outside) {
                l->start();
            }
        }
        const auto over = [&] {
            return triggered && std::all_of(lanes.begin(), lanes.end(),
                                            [](const auto& l) { return l->seen().ended(); });
        };
        // With one core for both, whoever gives it away loses: sometimes at once, sometimes not.
        std::uint64_t turns_alone = random.below(2) * 16;
        until_driven([&] {
            if (turns_alone == 0) {
                std::this_thread::yield();
            } else {
                --turns_alone;
            }
            return over();
        });
        other.await_end(round_);
        std::size_t stopped = 0;
        for (const auto& l : lanes) {
            stopped += finish(*l);
        }
        return stopped;
    }

    std::size_t finish(lane& l) {
        const outcome& seen = l.seen();
        EXPECT_EQ(seen.completions, 1);
        EXPECT_TRUE(seen.how == ending::value || seen.how == ending::stopped)
            << seen.how << ": " << seen.error.message();
        EXPECT_TRUE(seen.where == &loop() || seen.how == ending::stopped);
        const bool stopped = seen.how == ending::stopped;
        l.self().check(stopped ? std::nullopt : std::optional(seen.number));
        l.reset();
        return stopped ? 1 : 0;
    }

    std::uint64_t round_ = 0;
};

}  // namespace eddy::test
