// SPDX-License-Identifier: Apache-2.0
#include "faults/drive.hpp"
#include "faults/with_every_fault.hpp"

#include <array>
#include <string_view>

#include <sys/uio.h>

namespace eddy::test::vectors_faults {

namespace {

/// Two vectors go through a pair of sockets into two others.
void pass(eddy::loop& loop, attempt& a) {
    auto [near, far] = unix_stream_pair();
    a.guard([&, from = &near, to = &far] {
        const descriptor sender(loop, std::move(*from));
        const descriptor receiver(loop, std::move(*to));
        std::array<char, 6> sent{'a', 'b', 'c', 'd', 'e', 'f'};
        std::array<char, 6> got{};
        std::array<iovec, 2> out{{{sent.data(), 4}, {sent.data() + 4, 2}}};
        std::array<iovec, 2> in{{{got.data(), 1}, {got.data() + 1, 5}}};
        recorder reading;
        recorder writing([&](recorder& r) {
            if (!r.result()) {
                loop.cancel(reading.operation());  // nothing comes
            }
        });
        reading.start(loop, readv_all(receiver, in));
        writing.start(loop, writev_all(sender, out));
        drive(
            loop, a, [&] { return reading.ended() && writing.ended(); },
            [&] {
                loop.cancel(reading.operation());
                loop.cancel(writing.operation());
            });
        for (const recorder* one : {&writing, &reading}) {
            EXPECT_EQ(one->endings(), 1U);
            a.told(one->error());
        }
        a.succeed(got == sent);
    });
}

constexpr loop_scenario tried{.run = &pass, .tcp = false};
EDDY_SCENARIO(Vectors, tried);

}  // namespace

}  // namespace eddy::test::vectors_faults
