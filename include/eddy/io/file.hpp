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

/// A file.
///
///     file log = co_await file::open(loop, "app.log", O_WRONLY | O_CREAT | O_APPEND);
///     co_await log.write(bytes(line));
///     co_await log.datasync();
///     co_await log.close();
///
/// Under epoll and poll, files are read and written by calls that block: on the thread that
/// `loop_options::blocking` gives, else on the loop's. Those that have begun cannot be stopped.
/// Reads and writes at the file's own position are performed in the order in which they were
/// started; those at an offset in any order.
class file : public io_handle {
public:
    using io_handle::io_handle;

    /// Value: a `file`. The path is copied, and nothing else allocated: one that is too long for a
    /// std::string without memory takes some. One with a NUL in it is `invalid_argument`. `flags`
    /// are O_*, `mode` that of a new file.
    static auto open(loop& home, std::string path, int flags, unsigned mode = 0666) {
        using convert = detail::opening<file>;
        return io_sender<convert>(&home, eddy::open(nullptr, flags, mode),
                                  convert(&home, "file::open", std::move(path)));
    }
    /// The same below this directory: neither `..` nor an absolute path nor a link leads out of it,
    /// the error is `cross_device_link` (RESOLVE_BENEATH of openat2(2), which the kernel must
    /// have). This directory must stay open until it has completed.
    ///
    ///     file root = co_await file::open(loop, "/srv/www", O_RDONLY | O_DIRECTORY);
    ///     file page = co_await root.open_beneath(path, O_RDONLY);
    auto open_beneath(std::string path, int flags, unsigned mode = 0666) const {
        using convert = detail::opening<file>;
        return io_sender<convert>(
            home(), eddy::open(nullptr, flags, mode, native_handle(), RESOLVE_BENEATH),
            convert(home(), "file::open_beneath", std::move(path)));
    }

    /// Value: how many bytes; 0 is the end of the file, or an empty buffer.
    auto read_some(std::span<std::byte> buffer) const noexcept {
        return counted(eddy::read(descriptor_, buffer));
    }
    auto read_some(std::span<const iovec> vectors) const noexcept {
        return counted(eddy::readv(descriptor_, vectors));
    }
    auto read_some_at(std::int64_t offset, std::span<std::byte> buffer) const noexcept {
        return counted(eddy::read(descriptor_, buffer, offset));
    }
    /// Value: how many bytes, at least one unless there were none.
    auto write_some(std::span<const std::byte> buffer) const noexcept {
        return counted(eddy::write(descriptor_, buffer));
    }
    auto write_some(std::span<const iovec> vectors) const noexcept {
        return counted(eddy::writev(descriptor_, vectors));
    }
    auto write_some_at(std::int64_t offset, std::span<const std::byte> buffer) const noexcept {
        return counted(eddy::write(descriptor_, buffer, offset));
    }

    /// All of it. Value: how many bytes; fewer than the buffer has room for at the end of the file,
    /// at an error behind them, or if it was stopped on the way.
    auto read_at(std::int64_t offset, std::span<std::byte> buffer) const noexcept {
        using convert = detail::whole<direction::in>;
        return io_sender<convert>(home(), eddy::read_all(descriptor_, buffer, offset),
                                  convert(buffer.size()));
    }
    auto read(std::span<std::byte> buffer) const noexcept { return read_at(at_position, buffer); }
    /// All of it. Value: how many bytes; fewer than were given only if it was stopped on the way.
    auto write_at(std::int64_t offset, std::span<const std::byte> buffer) const noexcept {
        using convert = detail::whole<direction::out>;
        return io_sender<convert>(home(), eddy::write_all(descriptor_, buffer, offset),
                                  convert(buffer.size()));
    }
    auto write(std::span<const std::byte> buffer) const noexcept {
        return write_at(at_position, buffer);
    }

    /// Until the data and what describes it are on the disk; datasync() leaves out what is not
    /// needed to read it again.
    auto sync() const noexcept { return io_sender<as_void>(home(), eddy::fsync(descriptor_)); }
    auto datasync() const noexcept {
        return io_sender<as_void>(home(), eddy::fsync(descriptor_, true));
    }

    // Direct calls, which take no longer than the file system's own locks.

    std::error_code status(struct stat& out) const noexcept {
        return detail::file_status(native_handle(), out);
    }
    std::error_code size(std::uint64_t& out) const noexcept {
        return detail::file_size(native_handle(), out);
    }
    /// Cuts the file, or makes it longer with zeros.
    std::error_code truncate(std::uint64_t size) const noexcept {
        return detail::truncate_file(native_handle(), size);
    }
    /// `out`, if given, is the new position.
    std::error_code seek(std::int64_t offset, seek_from from = seek_from::begin,
                         std::int64_t* out = nullptr) const noexcept {
        return detail::seek_file(native_handle(), offset, static_cast<int>(from), out);
    }

    // A wrong argument is told so in words.
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
