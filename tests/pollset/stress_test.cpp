// SPDX-License-Identifier: Apache-2.0
#include "support/pollset_fixture.hpp"
#include "support/random.hpp"

#include <array>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include <unistd.h>

namespace eddy::test::stress_test {
namespace {

constexpr std::size_t thread_count = 8;
constexpr std::size_t set_count = 4;
constexpr std::size_t channel_count = 12;
constexpr std::size_t bag_count = 3;

/// A pipe with numbers in it, read by one handle after the other.
struct channel {
    /// A handle, and the closure that it calls when there is something to read. Goes when the
    /// handle is done.
    struct reader : closure {
        reader(poll_domain& domain, unique_fd fd, channel& c)
            : closure([](closure& self, std::error_code e) { static_cast<reader&>(self).run(e); }),
              owner(c),
              number(fd.get()),
              handle(domain, std::move(fd), {.priority = default_priority}),
              done(*this) {}

        void run(std::error_code error) {
            EXPECT_FALSE(running.exchange(true)) << "called by two threads at once";
            calls.fetch_add(1);
            if (error) {
                over = true;
                running = false;
                return;
            }
            owner.read_all(number);
            running = false;
            arm();
        }
        void arm() {
            armings.fetch_add(1);
            EXPECT_FALSE(handle.notify_on_read(*this));
        }

        struct end : closure {
            explicit end(reader& r)
                : closure([](closure& self, std::error_code e) {
                      EXPECT_FALSE(e);
                      static_cast<end&>(self).of.finish();
                  }),
                  of(r) {}
            reader& of;
        };
        void finish() {
            EXPECT_FALSE(running) << "done while a closure is being called";
            EXPECT_EQ(calls + cancellations, armings) << "each arming ends once";
            std::atomic<bool>& place = owner.vacant;
            delete this;
            place = true;
        }

        channel& owner;
        int number;
        poll_handle handle;
        end done;
        std::atomic<bool> running{false};
        std::atomic<bool> over{false};  ///< shut down
        std::atomic<unsigned> armings{0};
        std::atomic<unsigned> calls{0};
        unsigned cancellations = 0;
    };

    channel() { reopen(); }

    /// What was in the last pipe and not read is gone. Nobody reads meanwhile.
    void reopen() {
        fd_pair pipe = make_pipe();
        set_nonblocking(pipe.first.get(), true);
        set_nonblocking(pipe.second.get(), true);
        const std::lock_guard lock(sending);
        reading = std::move(pipe.first);
        writing = std::move(pipe.second);
        received.store(sent.load());
    }
    /// Before the end to read from is closed: nobody writes from now on.
    void close_writing() {
        const std::lock_guard lock(sending);
        writing.reset();
    }

    void read_all(int fd) {
        std::uint64_t number = 0;
        while (::read(fd, &number, sizeof number) == static_cast<ssize_t>(sizeof number)) {
            EXPECT_EQ(number, received.load());
            received.fetch_add(1);
        }
    }
    void send() {
        const std::lock_guard lock(sending);
        const std::uint64_t number = sent.load();
        if (::write(writing.get(), &number, sizeof number) == static_cast<ssize_t>(sizeof number)) {
            sent.store(number + 1);
        }
    }

    std::mutex guard;  ///< of `current`, and of what is done with its handle
    reader* current = nullptr;
    unique_fd reading;               ///< while no handle has it; none when it was closed
    std::atomic<bool> vacant{true};  ///< the last handle is done
    std::mutex sending;
    unique_fd writing;
    std::atomic<std::uint64_t> sent{0};
    std::atomic<std::uint64_t> received{0};
};

/// Pollsets that can be replaced while threads work on them.
class set_shelf {
public:
    explicit set_shelf(poll_domain& domain) : domain_(domain) {
        for (auto& set : sets_) {
            set = std::make_shared<pollset>(domain_);
        }
        for (auto& bag : bags_) {
            bag = std::make_unique<pollset_set>(domain_);
        }
    }
    std::shared_ptr<pollset> at(std::size_t i) {
        const std::lock_guard lock(guard_);
        return sets_[i];
    }
    /// Shuts that one down; threads may still be inside.
    void replace(std::size_t i) {
        struct farewell : closure {
            explicit farewell(std::atomic<std::size_t>& p)
                : closure([](closure& self, std::error_code) {
                      auto& me = static_cast<farewell&>(self);
                      std::atomic<std::size_t>& left = me.pending;
                      delete &me;
                      left.fetch_sub(1);
                  }),
                  pending(p) {}
            std::atomic<std::size_t>& pending;
        };
        auto next = std::make_shared<pollset>(domain_);
        {
            const std::lock_guard lock(guard_);
            sets_[i].swap(next);
        }
        pending_.fetch_add(1);
        next->shutdown(*new farewell(pending_));
    }
    std::size_t pending() const { return pending_.load(); }

    /// Threads may tie pollsets, handles and one another to them. They stay.
    pollset_set& bag(std::size_t i) { return *bags_[i]; }

private:
    poll_domain& domain_;
    std::mutex guard_;
    std::array<std::shared_ptr<pollset>, set_count> sets_;
    std::array<std::unique_ptr<pollset_set>, bag_count> bags_;
    std::atomic<std::size_t> pending_{0};
};

/// Eight threads that do everything at random for a while (chaos), and then only wait in `work`
/// (calm), until every number that was sent has arrived: nobody kicks then, so what was stranded
/// stays so and is noticed.
class PollsetStress : public PollsetTest {
protected:
    struct thread_state {
        std::mutex lock;
        bool calm_is_over = false;  ///< changed under the lock, and kicked under it
        pollset_worker worker;
        std::thread thread;
    };

    void stress(duration limit) {
        random_numbers random;
        set_shelf sets(domain());
        std::array<channel, channel_count> channels;
        const time_point end = clock::now() + limit;
        std::size_t rounds = 0;
        for (; clock::now() < end && !HasFailure(); ++rounds) {
            chaos(random, sets, channels, 100ms);
            calm(random, sets, channels);
        }
        std::uint64_t numbers = 0;
        for (channel& c : channels) {
            revive(c, *sets.at(0));
            c.current->handle.orphan(c.current->done);
            EXPECT_TRUE(c.vacant) << "nobody is inside, so it is done at once";
            numbers += c.received;
        }
        EXPECT_EQ(sets.pending(), 0U);
        RecordProperty("rounds", static_cast<int>(rounds));
        EXPECT_GT(numbers, rounds * channel_count / 2);
    }

private:
    using worker_array = std::array<pollset_worker, thread_count>;

    /// Gives the channel a handle if it has none, in that pollset.
    void revive(channel& c, pollset& set) {
        if (c.current != nullptr || !c.vacant) {
            return;
        }
        if (!c.reading) {
            c.reopen();
        }
        c.vacant = false;
        c.current = new channel::reader(domain(), std::move(c.reading), c);
        EXPECT_FALSE(set_error(set.add(c.current->handle)));
        c.current->arm();
    }
    /// A pollset may be shut down by another thread at any time.
    static bool set_error(std::error_code error) {
        return error && error != std::errc::operation_canceled;
    }

    void chaos(random_numbers& random, set_shelf& sets,
               std::array<channel, channel_count>& channels, duration limit) {
        worker_array workers;
        std::array<std::thread, thread_count> threads;
        const time_point end = clock::now() + limit;
        for (std::size_t i = 0; i != thread_count; ++i) {
            threads[i] = std::thread([&, i, numbers = random.another()]() mutable {
                while (clock::now() < end) {
                    act(numbers, sets, channels[numbers() % channel_count], workers, i);
                }
            });
        }
        for (std::thread& t : threads) {
            t.join();
        }
    }

    void act(std::mt19937_64& numbers, set_shelf& sets, channel& c, worker_array& workers,
             std::size_t me) {
        const std::size_t which = numbers() % set_count;
        const auto set = sets.at(which);
        switch (numbers() % 32) {
            case 0:
                sets.replace(which);
                return;
            case 1:
                set->kick_any();
                return;
            case 2:
                set->wake(2);
                return;
            case 3:
            case 4:
            case 5:
            case 6:
            case 7:
            case 8:
            case 9:
            case 10:
                c.send();
                return;
            case 11:
            case 12:
            case 13:
            case 14:
            case 15:
            case 16:
            case 17:
            case 18: {
                std::mutex mine;
                std::unique_lock lock(mine);
                EXPECT_TRUE(set->work(lock, workers[me], clock::now() + 1ms));
                return;
            }
            case 19: {
                const auto error = set->kick(workers[numbers() % thread_count]);
                EXPECT_TRUE(!error || error == std::errc::no_such_process) << error;
                return;
            }
            case 20:
            case 21:
                tie(numbers, sets, *set);
                return;
            default:
                change(numbers, c, *set, sets.bag(numbers() % bag_count));
        }
    }

    /// What can go wrong only because others do the same at that time, or have.
    static bool is_late(std::error_code error) {
        return error == std::errc::file_exists || error == std::errc::no_such_file_or_directory ||
               error == std::errc::operation_canceled;
    }

    /// Later ones are items of earlier ones, so there is no circle.
    static void tie(std::mt19937_64& numbers, set_shelf& sets, pollset& set) {
        const std::size_t which = numbers() % bag_count;
        pollset_set& bag = sets.bag(which);
        std::error_code error;
        switch (numbers() % 4) {
            case 0:
                error = bag.add(set);
                break;
            case 1:
                error = bag.remove(set);
                break;
            default:
                if (which + 1 != bag_count) {
                    pollset_set& item = sets.bag(which + 1 + numbers() % (bag_count - which - 1));
                    error = (numbers() & 1U) != 0 ? bag.add(item) : bag.remove(item);
                }
        }
        EXPECT_TRUE(!error || is_late(error)) << error;
    }

    void change(std::mt19937_64& numbers, channel& c, pollset& set, pollset_set& bag) {
        const std::lock_guard lock(c.guard);
        revive(c, set);
        if (c.current == nullptr) {
            return;
        }
        channel::reader& r = *c.current;
        switch (numbers() % 16) {
            case 13:
            case 14: {
                const auto error = bag.add(r.handle);
                EXPECT_TRUE(!error || is_late(error)) << error;
                return;
            }
            case 15: {
                const auto error = bag.remove(r.handle);
                EXPECT_TRUE(!error || is_late(error)) << error;
                return;
            }
            case 0:
                c.current = nullptr;
                c.reading = r.handle.release(r.done);
                return;
            case 12:
                c.current = nullptr;
                c.close_writing();
                r.handle.orphan(r.done);
                return;
            case 1:
                r.handle.shutdown(std::make_error_code(std::errc::connection_aborted));
                return;
            case 2:
                if (r.handle.cancel(r)) {
                    ++r.cancellations;
                    r.arm();
                }
                return;
            case 3:
                r.handle.make_ready(poll_event_kind::read);
                return;
            case 4:
            case 5:
            case 6: {
                const auto error = set.remove(r.handle);
                EXPECT_TRUE(!error || error == std::errc::no_such_file_or_directory) << error;
                return;
            }
            default: {
                const auto error = set.add(r.handle);
                EXPECT_TRUE(!set_error(error) || error == std::errc::file_exists) << error;
            }
        }
    }

    void calm(random_numbers& random, set_shelf& sets,
              std::array<channel, channel_count>& channels) {
        for (channel& c : channels) {
            settle_down(c, *sets.at(random.below(set_count)));
        }
        std::array<thread_state, thread_count> threads;
        for (std::size_t i = 0; i != thread_count; ++i) {
            threads[i].thread = std::thread([&t = threads[i], set = sets.at(i % set_count)] {
                std::unique_lock lock(t.lock);
                const time_point deadline = clock::now() + 5 * patience;
                while (!t.calm_is_over && clock::now() < deadline) {
                    EXPECT_TRUE(set->work(lock, t.worker, deadline));
                }
                EXPECT_LT(clock::now(), deadline) << "a kick was lost";
            });
        }
        for (int i = 0; i != 4; ++i) {
            for (channel& c : channels) {
                c.send();
            }
            EXPECT_TRUE(all_arrived(channels, patience)) << "stranded";
        }
        for (std::size_t i = 0; i != thread_count; ++i) {
            const std::lock_guard lock(threads[i].lock);
            threads[i].calm_is_over = true;
            const auto error = sets.at(i % set_count)->kick(threads[i].worker);
            EXPECT_TRUE(!error || error == std::errc::no_such_process) << error;
        }
        for (thread_state& t : threads) {
            t.thread.join();
        }
    }

    /// Has a handle that is not shut down, in one pollset at least.
    void settle_down(channel& c, pollset& set) {
        revive(c, set);
        ASSERT_NE(c.current, nullptr) << "nobody is inside, so the last handle is done";
        const auto error = set.add(c.current->handle);
        EXPECT_TRUE(!error || error == std::errc::file_exists) << error;
        if (c.current->handle.is_shut_down()) {
            channel::reader& r = *std::exchange(c.current, nullptr);
            c.reading = r.handle.release(r.done);
            revive(c, set);
        }
        ASSERT_NE(c.current, nullptr);
    }

    static bool all_arrived(std::array<channel, channel_count>& channels, duration limit) {
        const time_point end = clock::now() + limit;
        for (channel& c : channels) {
            while (c.received != c.sent) {
                if (clock::now() >= end) {
                    return false;
                }
                std::this_thread::sleep_for(100us);
            }
        }
        return true;
    }
};

TEST_P(PollsetStress, NothingIsLostWhateverEightThreadsDo) { stress(1s); }

/// Shorter runs found less.
using FullPollsetStress = PollsetStress;
TEST_P(FullPollsetStress, NothingIsLostInSeconds) { stress(7500ms); }

using LongPollsetStress = PollsetStress;
TEST_P(LongPollsetStress, NothingIsLostInMinutes) { stress(150s); }

EDDY_WITH_EVERY_STRATEGY(PollsetStress);
EDDY_WITH_EVERY_STRATEGY(FullPollsetStress);
EDDY_WITH_EVERY_STRATEGY(LongPollsetStress);

}  // namespace
}  // namespace eddy::test::stress_test
