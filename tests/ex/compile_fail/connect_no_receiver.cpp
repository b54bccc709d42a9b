// says: connect: the second argument is not a receiver
// SPDX-License-Identifier: Apache-2.0
#include <eddy/ex/connect.hpp>
#include <eddy/ex/just.hpp>

namespace ex = eddy::ex;

struct receiver {
#ifdef CORRECTED
    using receiver_concept = ex::receiver_tag;
#endif
    void set_value(int) noexcept {}
};

int main() { auto operation = ex::connect(ex::just(1), receiver{}); }
