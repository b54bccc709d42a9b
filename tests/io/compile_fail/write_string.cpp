// says: this is not a buffer of bytes: write eddy::bytes(buffer)
// SPDX-License-Identifier: Apache-2.0
#include <eddy/io/io.hpp>

#include <string>

void transfer(const eddy::stream& through, const std::string& text) {
#ifdef CORRECTED
    auto sender = through.write(eddy::bytes(text));
#else
    auto sender = through.write(text);
#endif
}
