// SPDX-License-Identifier: Apache-2.0

// Names the subject of an error in the exception that is made of it.
#include <eddy/io/detail/sender/error_subject.hpp>

#include <eddy/io/detail/sender/completion.hpp>

#include <new>
#include <utility>

namespace eddy::detail {

namespace {

constinit thread_local error_naming* innermost = nullptr;

std::string words_for(const error_subject& subject) {
    const std::string object = subject.where ? subject.where.to_string() : subject.path;
    return object.empty() ? subject.operation : subject.operation + (" " + object);
}

}  // namespace

std::exception_ptr system_error_of(const std::error_code& code,
                                   const error_subject& subject) noexcept {
    if (subject.operation != nullptr) {
        try {
            return std::make_exception_ptr(std::system_error(code, words_for(subject)));
        } catch (const std::bad_alloc&) {
            // The code alone is better than nothing.
        }
    }
    return bare_system_error_of(code);
}

error_naming::error_naming(const std::error_code& code, error_subject subject) noexcept
    : code_(code), subject_(std::move(subject)), outer_(std::exchange(innermost, this)) {}

error_naming::~error_naming() { innermost = outer_; }

error_subject error_naming::take(const std::error_code& code) noexcept {
    if (innermost == nullptr) {
        return {};
    }
    error_subject taken = std::move(innermost->subject_);
    forget();
    return innermost->code_ == code ? std::move(taken) : error_subject();
}

void error_naming::forget() noexcept {
    if (innermost != nullptr) {
        innermost->subject_.operation = nullptr;
    }
}

}  // namespace eddy::detail
