#include <cstdio>
#include <exception>
#include <stdexcept>

#include "driver/child.hpp"
#include "driver/context.hpp"
#include "driver/cores.hpp"
#include "driver/echo_burst.hpp"
#include "driver/echo_counts.hpp"
#include "driver/echo_two_core.hpp"

namespace {

int run(const bench::options& chosen) {
    bench::end_children_on_signals();
    bench::raise_fd_limit();
    bench::progress shown;
    bench::results found;
    bench::context c{chosen, shown, found};
    bench::measure_echo_burst(c);
    bench::measure_echo_counts(c);
    bench::measure_echo_two_core(c);
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    bench::options chosen;
    try {
        chosen = bench::parse_options(argc, argv);
    } catch (const std::invalid_argument& e) {
        std::fprintf(stderr, "eddy_bench: %s\n\n%s", e.what(), bench::usage().c_str());
        return 2;
    }
    if (chosen.help) {
        std::fputs(bench::usage().c_str(), stdout);
        return 0;
    }
    try {
        return run(chosen);
    } catch (const std::exception& e) {
        std::fprintf(stderr, "eddy_bench: %s\n", e.what());
        return 1;
    }
}
