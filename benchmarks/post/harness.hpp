// SPDX-License-Identifier: Apache-2.0
#pragma once

// The questions about posting, asked to each subject alike. A subject is a template over a handler:
//
//   template <class Handler> class subject {
//       explicit subject(Handler&);
//       struct item;          what is posted: default-constructible, stays where it is
//       void prepare(item&);  once, before it is posted for the first time
//       void post(item&);     any thread; the loop's thread calls Handler::ran() for it
//       void run();           the loop, until stop()
//       void stop();          from inside ran()
//   };

#include <algorithm>
#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "common/clock.hpp"
#include "common/program.hpp"
#include "common/stats.hpp"

namespace bench {

template <template <class> class Subject>
class post_throughput {
public:
    /// M posts a second that the loop has run, all producers together.
    void measure(unsigned producers, unsigned count) {
        left_ = producers * count;
        std::vector<std::unique_ptr<item[]>> items(producers);
        for (auto& i : items) {
            i = std::make_unique<item[]>(count);
            std::for_each_n(i.get(), count, [&](item& one) { subject_.prepare(one); });
        }
        std::vector<std::jthread> threads;
        // Three threads on two cores: only the scheduler can share them out.
        if (producers == 1) pin_to_core(0);
        for (auto& i : items) {
            threads.emplace_back([&, first = i.get()] {
                if (producers == 1) pin_to_core(1);
                while (!go_.load(std::memory_order_acquire)) {}
                for (item* p = first; p != first + count; ++p) subject_.post(*p);
            });
        }
        const std::int64_t begin = now_ns();
        go_.store(true, std::memory_order_release);
        subject_.run();
        print_metric("mposts_per_s", producers * count * 1e3 / static_cast<double>(end_ - begin));
    }

    void ran() noexcept {
        if (--left_ > 0) return;
        end_ = now_ns();
        subject_.stop();
    }

private:
    using item = typename Subject<post_throughput>::item;

    Subject<post_throughput> subject_{*this};
    std::atomic<bool> go_ = false;
    std::uint64_t left_ = 0;
    std::int64_t end_ = 0;
};

template <template <class> class Subject>
class post_wake {
public:
    /// From the post to a sleeping loop until it runs.
    void measure(unsigned count) {
        left_ = count;
        subject_.prepare(item_);
        pin_to_core(0);
        std::jthread producer([&] { produce(count); });
        subject_.run();
        producer.join();
        std::sort(latencies_ns_.begin(), latencies_ns_.end());
        print_metric("wake_p50_ns", quantile(latencies_ns_, .5));
        print_metric("wake_p99_ns", quantile(latencies_ns_, .99));
    }

    void ran() noexcept {
        const std::int64_t now = now_ns();
        if (--left_ == 0) subject_.stop();
        ran_at_.store(now, std::memory_order_release);
    }

private:
    using item = typename Subject<post_wake>::item;
    static constexpr std::int64_t time_to_fall_asleep_ns = 40'000;

    void produce(unsigned count) {
        pin_to_core(1);
        latencies_ns_.reserve(count);
        for (unsigned n = 0; n < count; ++n) {
            for (const std::int64_t until = now_ns() + time_to_fall_asleep_ns; now_ns() < until;) {}
            ran_at_.store(0, std::memory_order_relaxed);
            const std::int64_t posted_at = now_ns();
            subject_.post(item_);
            std::int64_t ran_at = 0;
            while ((ran_at = ran_at_.load(std::memory_order_acquire)) == 0) {}
            latencies_ns_.push_back(static_cast<double>(ran_at - posted_at));
        }
    }

    Subject<post_wake> subject_{*this};
    item item_{};  // posted again only after it ran
    std::atomic<std::int64_t> ran_at_ = 0;
    unsigned left_ = 0;
    std::vector<double> latencies_ns_;
};

template <template <class> class Subject>
class post_self {
public:
    /// Batches posted from inside the loop: post and run, each.
    void measure(unsigned count) {
        batches_left_ = std::max(1u, count / batch_size);
        const unsigned batches = batches_left_;
        std::for_each_n(items_.get(), batch_size, [&](item& i) { subject_.prepare(i); });
        post_batch();
        subject_.run();
        const double posts = static_cast<double>(batches) * batch_size;
        print_metric("self_ns_per_post", static_cast<double>(end_ - begin_) / posts);
    }

    void ran() noexcept {
        if (--left_ > 0) return;
        if (begin_ == 0) {  // the first batch was posted from outside the loop: it does not count
            begin_ = now_ns();
            return post_batch();
        }
        if (--batches_left_ > 0) return post_batch();
        end_ = now_ns();
        subject_.stop();
    }

private:
    using item = typename Subject<post_self>::item;
    static constexpr unsigned batch_size = 1000;

    void post_batch() noexcept {
        left_ = batch_size;
        for (unsigned i = 0; i < batch_size; ++i) subject_.post(items_[i]);
    }

    Subject<post_self> subject_{*this};
    std::unique_ptr<item[]> items_ = std::make_unique<item[]>(batch_size);
    unsigned left_ = 0;
    unsigned batches_left_ = 0;
    std::int64_t begin_ = 0;
    std::int64_t end_ = 0;
};

template <template <class> class Subject>
int post_main(int argc, char** argv) {
    const arguments a(argc, argv);
    if (a.question() == "throughput") {
        std::make_unique<post_throughput<Subject>>()->measure(a.number(0), a.number(1));
    } else if (a.question() == "wake") {
        std::make_unique<post_wake<Subject>>()->measure(a.number(0));
    } else if (a.question() == "self") {
        std::make_unique<post_self<Subject>>()->measure(a.number(0));
    } else {
        a.wrong();
    }
    return 0;
}

}  // namespace bench
