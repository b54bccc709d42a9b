// says: this buffer is const: nothing can be read into it
// SPDX-License-Identifier: Apache-2.0
#include <eddy/io/io.hpp>

#include <string>
#include <utility>

void transfer(const eddy::stream& through, std::string& text) {
#ifdef CORRECTED
    auto sender = through.read_some(eddy::bytes(text));
#else
    auto sender = through.read_some(eddy::bytes(std::as_const(text)));
#endif
}
