// says: connect: the receiver cannot receive what this sender sends
// SPDX-License-Identifier: Apache-2.0
#include <eddy/ex/connect.hpp>
#include <eddy/ex/just.hpp>

namespace ex = eddy::ex;

struct receiver {
    using receiver_concept = ex::receiver_tag;
#ifdef CORRECTED
    void set_value(int) noexcept {}
#else
    void set_value() noexcept {}
#endif
};

int main() { auto operation = ex::connect(ex::just(1), receiver{}); }
