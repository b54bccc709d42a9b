// SPDX-License-Identifier: Apache-2.0
#include "loop/loop_fixture.hpp"

#include <eddy/loop/detail/brief_memory.hpp>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <thread>
#include <vector>

namespace eddy::test::brief_memory_test {
namespace {

/// A piece that is full of a number.
class piece {
public:
    piece(std::size_t size, unsigned char content)
        : size_(size), content_(content), bytes_(static_cast<unsigned char*>(make(size))) {
        std::memset(bytes_, content, size);
    }
    piece(const piece&) = delete;
    piece& operator=(const piece&) = delete;
    ~piece() { detail::brief_delete(bytes_, size_); }

    bool intact() const {
        const std::vector<unsigned char> expected(size_, content_);
        return std::memcmp(bytes_, expected.data(), size_) == 0;
    }
    bool aligned() const {
        return reinterpret_cast<std::uintptr_t>(bytes_) % alignof(std::max_align_t) == 0;
    }

private:
    static void* make(std::size_t size) { return detail::brief_new(size); }

    std::size_t size_;
    unsigned char content_;
    unsigned char* bytes_;
};

std::vector<std::unique_ptr<piece>> make_pieces(std::size_t count) {
    std::vector<std::unique_ptr<piece>> pieces;
    for (std::size_t i = 0; i != count; ++i) {
        pieces.push_back(std::make_unique<piece>(1 + i * 37 % 700, static_cast<unsigned char>(i)));
    }
    return pieces;
}

bool all_intact(const std::vector<std::unique_ptr<piece>>& pieces) {
    for (const auto& p : pieces) {
        if (!p->intact() || !p->aligned()) {
            return false;
        }
    }
    return true;
}

TEST(BriefMemory, IsNobodyElses) {
    auto pieces = make_pieces(1000);
    EXPECT_TRUE(all_intact(pieces));
    for (std::size_t i = 0; i < pieces.size(); i += 2) {  // holes, then others
        pieces[i].reset();
    }
    const auto more = make_pieces(1000);
    std::erase(pieces, nullptr);
    EXPECT_TRUE(all_intact(pieces));
    EXPECT_TRUE(all_intact(more));
}

TEST(BriefMemory, OutlivesItsThread) {
    std::vector<std::unique_ptr<piece>> pieces;
    std::thread([&] { pieces = make_pieces(300); }).join();
    EXPECT_TRUE(all_intact(pieces));
    pieces.clear();
    std::thread([&] { pieces = make_pieces(3); }).join();
    std::thread([&] { pieces.clear(); }).join();
    EXPECT_TRUE(pieces.empty());
}

TEST(BriefMemory, GoesFromThreadToThread) {
    constexpr int rounds = 400;
    std::atomic<piece*> passed = nullptr;
    std::atomic<int> broken = 0;
    std::thread consumer([&] {
        for (int left = rounds; left != 0;) {
            const std::unique_ptr<piece> got(passed.exchange(nullptr));
            if (got != nullptr) {
                broken += got->intact() ? 0 : 1;
                --left;
            } else {
                std::this_thread::yield();
            }
        }
    });
    for (int i = 0; i != rounds; ++i) {
        auto* const made =
            new piece(8 + static_cast<std::size_t>(i % 90), static_cast<unsigned char>(i));
        for (piece* none = nullptr; !passed.compare_exchange_weak(none, made); none = nullptr) {
            std::this_thread::yield();
        }
    }
    consumer.join();
    EXPECT_EQ(broken, 0);
}

/// Callables are what it is for.
class PostedCallable : public LoopTest {};
EDDY_ON_EVERY_ENGINE(PostedCallable);

TEST_P(PostedCallable, MayBeLargeOrAligned) {
    struct alignas(128) wide {
        std::array<char, 128> content{};
    };
    int ran = 0;
    loop().post([&ran, big = std::array<char, 4000>{}] { ran += big.back() == 0 ? 1 : 100; });
    loop().post([&ran, w = wide()] {
        ran += reinterpret_cast<std::uintptr_t>(&w) % 128 == 0 && w.content[0] == 0 ? 10 : 100;
    });
    loop().run(run_mode::empty);
    EXPECT_EQ(ran, 11);
}

TEST_P(PostedCallable, ThatCannotBeCopiedIsNotPosted) {
    struct refuses {
        refuses() = default;
        refuses(const refuses&) { throw std::runtime_error("no"); }
        void operator()() const {}
    };
    const refuses function;
    EXPECT_THROW(loop().post(function), std::runtime_error);
    EXPECT_TRUE(loop().empty());
}

TEST_P(PostedCallable, OfAThreadThatHasEndedRuns) {
    int sum = 0;
    std::thread([&] {
        for (int i = 1; i <= 500; ++i) {
            loop().post([&sum, i] { sum += i; });
        }
    }).join();
    loop().run(run_mode::empty);
    EXPECT_EQ(sum, 125'250);
}

}  // namespace
}  // namespace eddy::test::brief_memory_test
