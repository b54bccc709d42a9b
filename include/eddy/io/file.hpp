// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/ex/vocabulary.hpp>
#include <eddy/io/detail/convert/buffer_argument.hpp>
#include <eddy/io/detail/convert/file_calls.hpp>
#include <eddy/io/detail/convert/opening.hpp>
#include <eddy/io/detail/stream/whole.hpp>
#include <eddy/io/io_handle.hpp>
#include <eddy/io/io_sender.hpp>
#include <eddy/loop/requests.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/uio.h>

namespace eddy {

enum class seek_from : std::uint8_t { begin = SEEK_SET, position = SEEK_CUR, end = SEEK_END };

EDDY_EX_BEGIN

/// An open file.
///
///     file log = co_await file::open(loop, "app.log", O_WRONLY | O_CREAT | O_APPEND);
///     co_await log.write(bytes(line));
///     co_await log.datasync();
///     co_await log.close();
///
/// Under epoll and poll, files are read and written by blocking calls: on the thread that
/// `loop_options::blocking` provides, otherwise on the loop's. A call that has begun cannot be
/// stopped. Reads and writes at the file's own position are performed in the order in which they
/// were started; those at an offset, in any order.
class file : public io_handle {
public:
    using io_handle::io_handle;

    /// Opens a file. Value: a `file`. `flags` are O_*, `mode` is the mode of a new file. A path
    /// with a NUL is `invalid_argument`. Only the copy of the path takes memory, and only if it is
    /// too long to be stored inside the std::string object.
    static auto open(loop& home, std::string path, int flags, unsigned mode = 0666) {
        using convert = detail::opening<file>;
        return io_sender<convert>(&home, eddy::open(nullptr, flags, mode),
                                  convert(&home, "file::open", std::move(path)));
    }
    /// Opens a file below this directory. Neither `..` nor an absolute path nor a link leads out of
    /// it; the error is `cross_device_link` (RESOLVE_BENEATH of openat2(2), which the kernel must
    /// have). This directory must stay open until the operation has completed.
    ///
    ///     file root = co_await file::open(loop, "/srv/www", O_RDONLY | O_DIRECTORY);
    ///     file page = co_await root.open_beneath(path, O_RDONLY);
    auto open_beneath(std::string path, int flags, unsigned mode = 0666) const {
        using convert = detail::opening<file>;
        return io_sender<convert>(
            home(), eddy::open(nullptr, flags, mode, native_handle(), RESOLVE_BENEATH),
            convert(home(), "file::open_beneath", std::move(path)));
    }

    /// Reads a part. Value: the number of bytes; 0 means end of file or an empty buffer.
    auto read_some(std::span<std::byte> buffer) const noexcept {
        return counted(eddy::read(descriptor_, buffer));
    }
    auto read_some(std::span<const iovec> vectors) const noexcept {
        return counted(eddy::readv(descriptor_, vectors));
    }
    auto read_some_at(std::int64_t offset, std::span<std::byte> buffer) const noexcept {
        return counted(eddy::read(descriptor_, buffer, offset));
    }
    /// Writes a part. Value: the number of bytes, at least one unless there are none.
    auto write_some(std::span<const std::byte> buffer) const noexcept {
        return counted(eddy::write(descriptor_, buffer));
    }
    auto write_some(std::span<const iovec> vectors) const noexcept {
        return counted(eddy::writev(descriptor_, vectors));
    }
    auto write_some_at(std::int64_t offset, std::span<const std::byte> buffer) const noexcept {
        return counted(eddy::write(descriptor_, buffer, offset));
    }

    /// Fills the buffer. Value: the number of bytes; less than its size at the end of the file,
    /// before an error, or if stopped on the way.
    auto read_at(std::int64_t offset, std::span<std::byte> buffer) const noexcept {
        using convert = detail::whole<direction::in>;
        return io_sender<convert>(home(), eddy::read_all(descriptor_, buffer, offset),
                                  convert(buffer.size()));
    }
    auto read(std::span<std::byte> buffer) const noexcept { return read_at(at_position, buffer); }
    /// Writes the whole buffer. Value: the number of bytes; less only if stopped on the way.
    auto write_at(std::int64_t offset, std::span<const std::byte> buffer) const noexcept {
        using convert = detail::whole<direction::out>;
        return io_sender<convert>(home(), eddy::write_all(descriptor_, buffer, offset),
                                  convert(buffer.size()));
    }
    auto write(std::span<const std::byte> buffer) const noexcept {
        return write_at(at_position, buffer);
    }

    /// Completes when the data and its metadata are on the disk. datasync() leaves out metadata
    /// that is not needed to read the data again.
    auto sync() const noexcept { return io_sender<as_void>(home(), eddy::fsync(descriptor_)); }
    auto datasync() const noexcept {
        return io_sender<as_void>(home(), eddy::fsync(descriptor_, true));
    }

    // Direct calls, which block no longer than the file system's own locks.

    std::error_code status(struct stat& out) const noexcept {
        return detail::file_status(native_handle(), out);
    }
    std::error_code size(std::uint64_t& out) const noexcept {
        return detail::file_size(native_handle(), out);
    }
    /// Shortens the file, or extends it with zeros.
    std::error_code truncate(std::uint64_t size) const noexcept {
        return detail::truncate_file(native_handle(), size);
    }
    /// Moves the file's own position. `out`, if given, receives the new position.
    std::error_code seek(std::int64_t offset, seek_from from = seek_from::begin,
                         std::int64_t* out = nullptr) const noexcept {
        return detail::seek_file(native_handle(), offset, static_cast<int>(from), out);
    }

    // These overloads turn a wrong argument into a readable compile error.
    template <detail::no_buffer<std::span<std::byte>, std::span<const iovec>> Wrong>
    io_sender<as_count> read_some(Wrong&&) const noexcept {
        return detail::refuse_buffer<io_sender<as_count>, Wrong>();
    }
    template <detail::no_buffer<std::span<std::byte>> Wrong>
    io_sender<as_count> read_some_at(std::int64_t, Wrong&&) const noexcept {
        return detail::refuse_buffer<io_sender<as_count>, Wrong>();
    }
    template <detail::no_buffer<std::span<const std::byte>, std::span<const iovec>> Wrong>
    io_sender<as_count> write_some(Wrong&&) const noexcept {
        return detail::refuse_buffer<io_sender<as_count>, Wrong>();
    }
    template <detail::no_buffer<std::span<const std::byte>> Wrong>
    io_sender<as_count> write_some_at(std::int64_t, Wrong&&) const noexcept {
        return detail::refuse_buffer<io_sender<as_count>, Wrong>();
    }
    template <detail::no_buffer<std::span<std::byte>> Wrong>
    io_sender<detail::whole<direction::in>> read(Wrong&&) const noexcept {
        return detail::refuse_buffer<io_sender<detail::whole<direction::in>>, Wrong>();
    }
    template <detail::no_buffer<std::span<std::byte>> Wrong>
    io_sender<detail::whole<direction::in>> read_at(std::int64_t, Wrong&&) const noexcept {
        return detail::refuse_buffer<io_sender<detail::whole<direction::in>>, Wrong>();
    }
    template <detail::no_buffer<std::span<const std::byte>> Wrong>
    io_sender<detail::whole<direction::out>> write(Wrong&&) const noexcept {
        return detail::refuse_buffer<io_sender<detail::whole<direction::out>>, Wrong>();
    }
    template <detail::no_buffer<std::span<const std::byte>> Wrong>
    io_sender<detail::whole<direction::out>> write_at(std::int64_t, Wrong&&) const noexcept {
        return detail::refuse_buffer<io_sender<detail::whole<direction::out>>, Wrong>();
    }

private:
    io_sender<as_count> counted(const io_request& request) const noexcept {
        return {home(), request};
    }
};

EDDY_EX_END
}  // namespace eddy
