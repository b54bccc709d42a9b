// says: bytes: the argument must hold plain values side by side
// SPDX-License-Identifier: Apache-2.0
#include <eddy/io/bytes.hpp>

#include <string>
#include <vector>

int main() {
#ifdef CORRECTED
    std::vector<char> values;
#else
    std::vector<std::string> values;
#endif
    auto view = eddy::bytes(values);
}
