// A user's program: built against an installed eddy, or with eddy inside its own project.

#include <eddy/base/version.hpp>

#include <cstdio>

int main() {
    if (eddy::version() != EDDY_VERSION) {
        std::puts("the library is not the one that the headers belong to");
        return 1;
    }
    std::printf("eddy %s\n", EDDY_VERSION);
    return 0;
}
