// A user's program: built against an installed eddy, or with eddy inside its own project.

#include <eddy/base/version.hpp>
#include <eddy/ex/execution.hpp>
#include <eddy/loop/loop.hpp>

#include <cstdio>
#include <system_error>
#include <tuple>
#include <utility>

namespace {

struct job {
    void on_run() noexcept { runs += 1; }

    eddy::entry entry;
    int runs = 0;
};

// With the vocabulary that the library was configured with.
int twice(int number) {
    auto work = eddy::ex::just(number) | eddy::ex::then([](int n) { return 2 * n; });
    return std::get<0>(eddy::ex::sync_wait(std::move(work)).value());
}

}  // namespace

int main() try {
    if (eddy::version() != EDDY_VERSION) {
        std::puts("the library is not the one that the headers belong to");
        return 1;
    }
    eddy::loop loop;
    job work;
    loop.post<job, &job::entry, &job::on_run>(work);
    if (loop.run(eddy::run_mode::empty) != 1 || work.runs != 1) {
        std::puts("the entry did not run once");
        return 1;
    }
    if (twice(21) != 42) {
        std::puts("a sender did not send what it should");
        return 1;
    }
    std::printf("eddy %s\n", EDDY_VERSION);
    return 0;
} catch (const std::system_error& error) {
    std::printf("%s\n", error.what());
    return 1;
}
