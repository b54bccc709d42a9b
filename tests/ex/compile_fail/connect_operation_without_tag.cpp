// says: connect: the sender's member returned no operation state
// SPDX-License-Identifier: Apache-2.0
#include <eddy/ex/connect.hpp>

namespace ex = eddy::ex;

struct operation {
#ifdef CORRECTED
    using operation_state_concept = ex::operation_state_tag;
#endif
    void start() & noexcept {}
};
struct sender {
    using sender_concept = ex::sender_tag;
    template <class Self, class... Env>
    static consteval auto get_completion_signatures() {
        return ex::completion_signatures<ex::set_value_t()>{};
    }
    operation connect(auto) const noexcept { return {}; }
};
struct receiver {
    using receiver_concept = ex::receiver_tag;
    void set_value() noexcept {}
};

int main() { auto connected = ex::connect(sender{}, receiver{}); }
