// says: bytes: this temporary is gone before its bytes are used: give it a name
// SPDX-License-Identifier: Apache-2.0
#include <eddy/io/bytes.hpp>

#include <string>

std::string make();

int main() {
#ifdef CORRECTED
    const auto text = make();
    auto view = eddy::bytes(text);
#else
    auto view = eddy::bytes(make());
#endif
}
