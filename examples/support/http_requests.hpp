// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "support/printable.hpp"

#include <eddy/async/task.hpp>
#include <eddy/io/bytes.hpp>
#include <eddy/io/tcp/socket.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <new>
#include <string>
#include <string_view>

#include <http_parser.h>
#include <strings.h>

namespace example {

/// Reads the requests of a connection one after another, without bodies, by Debian's
/// libhttp-parser.
class http_requests {
public:
    http_requests() {
        http_parser_init(&parser_, HTTP_REQUEST);
        parser_.data = this;
        http_parser_set_max_header_size(16384);
    }
    http_requests(const http_requests&) = delete;
    http_requests& operator=(const http_requests&) = delete;

    /// Reads the next request. Returns false if the peer has ended the connection.
    eddy::task<bool> next(const eddy::tcp::socket& from) {
        url_.clear();
        name_.clear();
        in_value_ = false;
        hosts_ = 0;
        status_ = 0;
        lacks_memory_ = false;
        http_parser_pause(&parser_, 0);
        while (!parse()) {
            const std::size_t count = co_await from.read_some(eddy::bytes(buffer_));
            if (count == 0) {
                co_return false;
            }
            unread_ = std::string_view(buffer_.data(), count);
        }
        co_return true;
    }

    /// 200, or the status with which the request must be refused.
    int status() const { return status_; }
    bool head_only() const { return parser_.method == HTTP_HEAD; }
    bool keep_alive() const { return keep_alive_; }

    /// The path, relative and decoded; a directory stands for its index.html.
    std::string path() const {
        http_parser_url parts;
        http_parser_url_init(&parts);
        if (http_parser_parse_url(url_.data(), url_.size(), 0, &parts) != 0) {
            return {};
        }
        const auto& field = parts.field_data[UF_PATH];
        std::string path = decoded(std::string_view(url_).substr(field.off, field.len));
        path.erase(0, path.find_first_not_of('/'));
        return path.empty() || path.back() == '/' ? path + "index.html" : path;
    }

    std::string answer(int status, std::int64_t size) const {
        return "HTTP/1.1 " + std::to_string(status) + " " +
               http_status_str(static_cast<http_status>(status)) +
               "\r\nContent-Length: " + std::to_string(size) +
               "\r\nConnection: " + (keep_alive_ ? "keep-alive" : "close") + "\r\n\r\n";
    }
    /// Returns an answer (503) that needs no memory, and prints that there is none. Ends the
    /// connection.
    std::string_view answer_without_memory() {
        say_lack_of_memory();
        refuse(503);
        return "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
    }

private:
    /// Returns true if the request is complete or refused. Bytes behind it stay unread.
    bool parse() {
        if (unread_.empty()) {
            return false;
        }
        unread_.remove_prefix(
            http_parser_execute(&parser_, &settings(), unread_.data(), unread_.size()));
        const auto error = HTTP_PARSER_ERRNO(&parser_);
        if (lacks_memory_) {
            say_lack_of_memory();
            refuse(503);
        } else if (error != HPE_OK && error != HPE_PAUSED) {
            refuse(status_for(error));
        } else if (parser_.http_major == 0 && parser_.http_minor == 9) {
            refuse(505);  // a line without a version: its sender expects no head
        }
        return status_ != 0;
    }
    void refuse(int status) {
        status_ = status;
        keep_alive_ = false;
    }
    /// Handles the end of a request.
    void complete() {
        const bool known = parser_.method == HTTP_GET || parser_.method == HTTP_HEAD;
        // HTTP/1.0 had no Host line.
        const bool has_host = hosts_ == 1 || (hosts_ == 0 && parser_.http_minor == 0);
        keep_alive_ = http_should_keep_alive(&parser_) != 0;
        status_ = known ? 200 : 405;
        if (parser_.http_major != 1) {
            refuse(505);
        } else if (!has_host) {
            refuse(400);
        }
    }
    void say_lack_of_memory() const {
        std::fprintf(stderr, "cannot serve %s: no memory\n", printable(url_).c_str());
    }
    /// Calls `append`, whose std::bad_alloc must not leave through the parser, which is C.
    template <class Append>
    int guarded(Append append) noexcept {
        try {
            append();
            return 0;
        } catch (const std::bad_alloc&) {
            lacks_memory_ = true;
            return -1;
        }
    }
    /// Take a part of the name, or of the value, of a header line.
    void take_name(std::string_view part) {
        if (in_value_) {
            name_.clear();
            in_value_ = false;
        }
        name_ += part;
    }
    void take_value() {
        if (!in_value_ && ::strcasecmp(name_.c_str(), "Host") == 0) ++hosts_;
        in_value_ = true;
    }
    static int status_for(http_errno error) {
        switch (error) {
            case HPE_CB_headers_complete:
                return 413;
            case HPE_CB_url:
                return 414;
            case HPE_HEADER_OVERFLOW:
                return 431;
            default:
                return 400;
        }
    }

    static http_requests& of(http_parser* parser) {
        return *static_cast<http_requests*>(parser->data);
    }
    static const http_parser_settings& settings() {
        static const http_parser_settings made = [] {
            http_parser_settings s;
            http_parser_settings_init(&s);
            s.on_url = [](http_parser* parser, const char* text, std::size_t size) {
                http_requests& me = of(parser);
                const int code = me.guarded([&] { me.url_.append(text, size); });
                return me.url_.size() > 4096 ? -1 : code;
            };
            s.on_header_field = [](http_parser* parser, const char* text, std::size_t size) {
                return of(parser).guarded([&] { of(parser).take_name({text, size}); });
            };
            s.on_header_value = [](http_parser* parser, const char*, std::size_t) {
                of(parser).take_value();
                return 0;
            };
            s.on_headers_complete = [](http_parser* parser) {
                const bool sized = parser->content_length != 0 && ~parser->content_length != 0;
                return sized || (parser->flags & F_CHUNKED) != 0 ? -1 : 0;
            };
            s.on_message_complete = [](http_parser* parser) {
                of(parser).complete();
                http_parser_pause(parser, 1);
                return 0;
            };
            return s;
        }();
        return made;
    }
    static std::string decoded(std::string_view text) {
        const auto digit = [](char c) {
            const std::string_view digits = "00112233445566778899aAbBcCdDeEfF";
            const auto at = digits.find(c);
            return at == digits.npos ? -1 : static_cast<int>(at / 2);
        };
        std::string plain;
        for (std::size_t i = 0; i != text.size(); ++i) {
            const bool coded = text[i] == '%' && i + 2 < text.size() && digit(text[i + 1]) >= 0 &&
                               digit(text[i + 2]) >= 0;
            plain +=
                coded ? static_cast<char>(digit(text[i + 1]) * 16 + digit(text[i + 2])) : text[i];
            i += coded ? 2 : 0;
        }
        return plain;
    }

    http_parser parser_;
    std::string url_;
    std::string name_;  ///< of the header line that is being read
    bool in_value_ = false;
    int hosts_ = 0;
    int status_ = 0;
    bool keep_alive_ = false;
    bool lacks_memory_ = false;
    std::array<char, 8192> buffer_;
    std::string_view unread_;
};

/// Reads and discards whatever is still to come.
inline eddy::task<> skip_rest(const eddy::tcp::socket& from) {
    std::array<std::byte, 4096> ignored;
    while (co_await from.read_some(ignored) != 0) {}
}

}  // namespace example
