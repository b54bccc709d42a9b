#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# selftest.sh CASE DIR: plants a small tree with one fault in DIR and expects the checker to reject
# it with the right words; then mends the fault and expects silence.
set -euo pipefail
house=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
case=$1
tree=$2/$case
rm -rf "$tree"
mkdir -p "$tree"/include/eddy/{base,loop} "$tree"/src/{base,kernel,loop,engine}

# plant FILE LINE...: makes a file of the tree.
plant() {
    local file=$tree/$1
    shift
    mkdir -p "$(dirname "$file")"
    printf '%s\n' "$@" >"$file"
}

# rejects MESSAGE CHECKER...: the checker fails and says MESSAGE.
rejects() {
    local message=$1 output
    shift
    if output=$("$@" 2>&1); then
        printf 'not noticed by: %s\n' "$*"
        exit 1
    fi
    if [[ $output != *"$message"* ]]; then
        printf 'expected it to say:\n  %s\nit said:\n%s\n' "$message" "$output"
        exit 1
    fi
}

accepts() {
    local output
    if ! output=$("$@" 2>&1); then
        printf 'a clean tree was rejected by: %s\n%s\n' "$*" "$output"
        exit 1
    fi
}

layering() { "$house/layering.sh" "$tree"; }
syscalls() { "$house/syscalls.sh" "$tree"; }
prints() { "$house/prints.sh" "$tree" "$@"; }
door() { "$house/door.sh" "$tree"; }
text() { "$house/text.sh" "$1" "$tree"; }
headers() { "$house/headers.sh" "$tree" "${CXX:-c++}"; }
umbrella() { "$house/umbrella.sh" "$tree" "${CXX:-c++}"; }
thin() { "$house/thin.sh" "$tree" "${CXX:-c++}"; }
adrs() { "$house/adrs.sh" "$tree"; }

case $case in
layering)
    plant include/eddy/base/a.hpp '#include <eddy/loop/loop.hpp>'
    rejects 'include/eddy/base/a.hpp:1: base may not include loop' layering
    plant include/eddy/base/a.hpp '#pragma once' '#  include "loop/loop.hpp"'
    rejects 'include/eddy/base/a.hpp:2: base may not include loop' layering
    plant include/eddy/base/a.hpp '#include <eddy/eddy.hpp>'
    rejects '<eddy/eddy.hpp> is for users' layering
    plant include/eddy/base/a.hpp '#include "../loop/loop.hpp"'
    rejects 'name the room instead of ../' layering
    plant include/eddy/base/a.hpp '#include <memory>' '#include <sys/epoll.h>'
    plant src/loop/loop.cpp '#include <eddy/base/a.hpp>' '#include "kernel/epoll.hpp"' \
        '#include "loop.hpp"' '// #include <eddy/watch/watch.hpp>'
    plant include/eddy/eddy.hpp '#include <eddy/base/a.hpp>' '#include <eddy/loop/loop.hpp>'
    accepts layering
    plant src/loop/loop.cpp '#include <eddy/watch/watch.hpp>'
    rejects 'src/loop/loop.cpp:1: loop may not include watch' layering
    ;;
rooms)
    plant src/cellar/a.cpp 'int a;'
    rejects 'the room cellar is not in rooms.txt' layering
    rm -r "$tree/src/cellar"
    plant src/a.cpp 'int a;'
    rejects 'a source file outside the rooms' layering
    rm "$tree/src/a.cpp"
    plant src/base/a.cpp '#include "cellar/a.hpp"'
    rejects '"cellar/a.hpp" is in no room' layering
    plant src/base/a.cpp '#include <cellar/a.hpp>'
    accepts layering
    ;;
private)
    plant include/eddy/loop/a.hpp '#include "kernel/epoll.hpp"'
    rejects 'the room kernel is private: include it only from src/' layering
    plant include/eddy/loop/a.hpp '#include <eddy/kernel/epoll.hpp>'
    rejects 'the room kernel is private: include it only from src/' layering
    plant include/eddy/eddy.hpp '#include <eddy/kernel/epoll.hpp>'
    plant include/eddy/loop/a.hpp '#pragma once'
    rejects 'the room kernel is private: include it only from src/' layering
    rm "$tree/include/eddy/eddy.hpp"
    plant include/eddy/kernel/a.hpp '#pragma once'
    rejects 'nothing of it belongs under include/' layering
    rm -r "$tree/include/eddy/kernel"
    plant src/loop/a.cpp '#include "kernel/epoll.hpp"'
    accepts layering
    ;;
banned)
    for header in algorithm functional iostream regex thread; do
        plant include/eddy/base/a.hpp "#include <$header>"
        rejects "<$header> is banned from the headers that users include" layering
    done
    plant include/eddy/base/a.hpp '#include <memory>'
    plant src/base/a.cpp '#include <thread>'
    accepts layering
    ;;
thin)
    plant include/eddy/base/a.hpp '#pragma once' '#include <bits/stdc++.h>'
    plant include/eddy/loop/b.hpp '#pragma once' '#include <eddy/base/a.hpp>'
    plant include/eddy/loop/c.hpp '#pragma once' '#include <mutex>'
    rejects 'include/eddy/base/a.hpp: brings <thread> along' thin
    rejects 'include/eddy/loop/b.hpp: brings <thread> along' thin
    plant include/eddy/base/a.hpp '#pragma once' '#include <algorithm>'
    rejects 'include/eddy/loop/b.hpp: brings <algorithm> along' thin
    plant include/eddy/base/a.hpp '#pragma once' '#include <string>'
    accepts thin
    ;;
umbrella)
    plant include/eddy/eddy.hpp '#pragma once' '#include <eddy/base/a.hpp>'
    plant include/eddy/base/a.hpp '#pragma once'
    plant include/eddy/base/detail/b.hpp '#pragma once'
    plant include/eddy/ex/bridge/std.hpp '#pragma once'
    accepts umbrella
    plant include/eddy/loop/c.hpp '#pragma once'
    rejects '<eddy/eddy.hpp> does not include <eddy/loop/c.hpp>' umbrella
    plant include/eddy/base/a.hpp '#pragma once' '#include <eddy/loop/c.hpp>'
    accepts umbrella
    ;;
headers)
    plant include/eddy/base/a.hpp '#pragma once' 'inline std::size_t a() { return 0; }'
    rejects 'include/eddy/base/a.hpp: does not compile on its own' headers
    plant include/eddy/base/a.hpp '#include <cstddef>' 'inline std::size_t a() { return 0; }'
    rejects 'include/eddy/base/a.hpp: does not compile on its own' headers # no guard
    plant include/eddy/base/a.hpp '#pragma once' '#include <cstddef>' \
        'inline std::size_t a() { return 0; }'
    plant src/kernel/a.hpp '#pragma once' '#include <eddy/base/a.hpp>' '#include "base/b.hpp"'
    rejects 'src/kernel/a.hpp: does not compile on its own' headers
    plant src/base/b.hpp '#pragma once'
    accepts headers
    plant include/eddy/base/c.hpp '#pragma once' 'inline int a() { return 0; }'
    rejects 'the headers do not compile together' headers
    ;;
syscalls)
    plant src/loop/a.cpp 'int a() { return ::close(3); }'
    rejects 'src/loop/a.cpp:1: calls close: only src/kernel makes system calls' syscalls
    plant src/loop/a.cpp '' 'int a() { return epoll_ctl(1, 2, 3, nullptr); }'
    rejects 'src/loop/a.cpp:2: calls epoll_ctl' syscalls
    plant src/loop/a.cpp 'long a() { /* x */ return syscall(SYS_gettid); }'
    rejects 'calls syscall' syscalls
    plant src/loop/a.cpp 'unsigned a() { return ::brand_new_call("lo"); }'
    rejects 'calls brand_new_call' syscalls
    plant src/loop/a.cpp 'auto a() { return io_uring_get_sqe(&ring); }'
    rejects 'calls io_uring_get_sqe' syscalls
    plant include/eddy/loop/a.hpp 'inline auto a() { return ::read (0, nullptr, 0); }'
    plant src/loop/a.cpp ''
    rejects 'include/eddy/loop/a.hpp:1: calls read' syscalls
    plant include/eddy/loop/a.hpp '#pragma once'
    plant src/engine/uring/uring_engine.cpp 'int a() { return io_uring_enter(1, 2, 3, 4, nullptr); }'
    rejects 'calls io_uring_enter' syscalls
    plant src/engine/uring/uring_engine.cpp 'auto a() { return io_uring_get_sqe(&ring); }'
    for word in this_thread::sleep_for this_thread::sleep_until this_thread::yield std::thread std::jthread \
        std::async hardware_concurrency std::random_device std::ifstream std::filesystem; do
        for file in include/eddy/loop/b.hpp src/loop/b.cpp src/kernel/b.cpp; do
            plant $file '' "auto a() { return ${word/#this/std::this}(b); }"
            rejects "$file:2: names $word, which makes calls that nobody counts" syscalls
            rm "$tree/$file"
        done
    done
    for call in sched_yield usleep nanosleep clock_nanosleep pthread_create pthread_join; do
        plant src/loop/b.cpp "int a() { return $call(b); }"
        rejects "src/loop/b.cpp:1: calls $call" syscalls
    done
    plant src/loop/b.cpp 'std::vector<std::thread> threads;'
    rejects 'src/loop/b.cpp:1: names std::thread, which makes calls that nobody counts: use kernel::os_thread' syscalls
    plant src/loop/b.cpp '// std::thread' 'const char* b = "std::thread";' 'kernel::os_thread c;' \
        'using std::this_thread::sync_wait;' 'auto d = sleep_for(1ms);' 'co_yield(e);' 'my_std::thread_like f;'
    accepts syscalls
    plant src/kernel/a.cpp 'int a() { return ::close(3); }' \
        'int b() { return io_uring_enter(1, 2, 3, 4, nullptr); }'
    plant src/loop/a.cpp 'auto a() { return kernel::close(3); }  // not ::close(3)' \
        'auto b() { return file.read(3) + file->write(3) + kernel::epoll_ctl(3); }' \
        '/* ::close(3)' '   ::close(3) */' 'const char* c = "::close(3)";' \
        'int read(int);' 'void loop::connect(int) {}'
    accepts syscalls
    ;;
prints)
    while read -r name statement; do
        plant src/loop/a.cpp '' "void a() { $statement; }"
        rejects "src/loop/a.cpp:2: $name: only the report function prints" prints
    done <<'END'
fprintf fprintf(log, "b")
fprintf std::fprintf (log, "b")
vfprintf std::vfprintf(log, "b", arguments)
dprintf ::dprintf(2, "b")
printf std::printf("b")
puts std::puts("b")
putchar putchar(c)
fputs std::fputs("b", log)
fputc std::fputc(c, log)
fwrite std::fwrite("b", 1, 1, log)
perror perror("b")
psignal psignal(1, "b")
syslog syslog(1, "b")
println std::println("b")
gpr_log gpr_log(GPR_ERROR, "b")
cerr std::cerr << 1
cout std::cout << 1
clog std::clog << 1
stderr log(stderr)
stdout log(stdout)
STDERR_FILENO kernel::write(STDERR_FILENO, line)
STDOUT_FILENO kernel::write(STDOUT_FILENO, line)
END
    plant src/loop/a.cpp ''
    plant src/kernel/a.cpp 'void a() { ::perror("b"); }'
    rejects 'src/kernel/a.cpp:1: perror' prints
    plant src/kernel/a.cpp ''
    plant include/eddy/loop/a.hpp 'inline void a() { std::puts("b"); }'
    rejects 'include/eddy/loop/a.hpp:1: puts' prints
    plant include/eddy/loop/a.hpp '#pragma once'
    plant adapters/b/src/a.cpp 'void a() { std::puts("b"); }'
    rejects 'adapters/b/src/a.cpp:1: puts' prints
    plant list.txt 'adapters/b/src/a.cpp puts'
    rejects 'a line without a reason: adapters/b/src/a.cpp puts' prints "$tree/list.txt"
    plant list.txt 'adapters/b/src/a.cpp fputs  # it must'
    rejects 'adapters/b/src/a.cpp:1: puts' prints "$tree/list.txt"
    plant list.txt '# exceptions' '' 'adapters/b/src/a.cpp puts  # it must'
    accepts prints "$tree/list.txt"
    plant adapters/b/src/a.cpp ''
    plant src/loop/a.cpp 'auto a() { return std::snprintf(b, 8, "c"); }  // not printf()' \
        '[[gnu::format(printf, 1, 2)]] void reportf(const char* format, ...);' \
        'auto b() { return file.puts(1) + file->fwrite(2) + output(3); }' \
        '/* std::cerr' '   perror("b") */' 'const char* c = "printf(\"d\")";' 'int stdout_size;'
    accepts prints
    ;;
door)
    plant src/kernel/a.cpp 'int a() { return ::close(3); }'
    rejects 'src/kernel/a.cpp:1: calls ::close past once()' door
    plant src/kernel/a.cpp '' 'long a() { return ::syscall(SYS_gettid); }'
    rejects 'src/kernel/a.cpp:2: calls ::syscall past once()' door
    plant src/kernel/a.cpp 'int a() { return ::brand_new_call(3); }'
    rejects 'calls ::brand_new_call past once()' door
    plant src/kernel/a.cpp 'auto a() { return once(call::close, [&] { return b(3); }), ::close(3); }'
    rejects 'calls ::close past once()' door
    plant src/kernel/a.cpp 'auto a() {' '    return retried([&] { return ::read(3, b, 1); });' '}'
    rejects 'src/kernel/a.cpp:2: calls ::read past once()' door
    for call in syscall mmap fcntl ioctl sched_yield nanosleep clock_nanosleep usleep pthread_create \
        pthread_join get_nprocs; do
        plant src/kernel/a.cpp "int a() { return $call(b); }"
        rejects "src/kernel/a.cpp:1: calls $call past once()" door
        plant src/kernel/a.cpp "int a() { return ::$call(b); }"
        rejects "src/kernel/a.cpp:1: calls ::$call past once()" door
    done
    plant src/kernel/a.cpp 'auto a() { return direct::recv(3, b, 1, 0); }'
    rejects 'calls direct::recv past once()' door
    plant src/kernel/a.cpp 'auto a() { return EDDY_CLONE(&child_main); }'
    rejects 'calls EDDY_CLONE past once()' door
    plant src/kernel/a.cpp 'void a() { asm volatile("syscall"); }'
    rejects 'calls asm past once()' door
    plant src/kernel/a.cpp 'auto a() { return std::fopen("b", "r"); }'
    rejects 'calls std::fopen past once()' door
    plant src/kernel/a.cpp ''
    plant src/engine/uring/uring_ring.cpp 'auto a() { return io_uring_register_ring_fd(&ring_); }'
    rejects 'src/engine/uring/uring_ring.cpp:1: calls io_uring_register_ring_fd past once()' door
    plant src/engine/uring/uring_ring.cpp 'auto a() {' \
        '    return kernel::once(kernel::call::uring_register,' \
        '                        [&] { return io_uring_register_ring_fd(&ring_); });' '}' \
        'auto b() { return io_uring_get_sqe(&ring_); }'
    plant src/kernel/a.cpp 'auto a() { return once(call::close, [&] { return ::close((3)); }); }' \
        'auto b() { return retried(' '    call::read, [&] { return ::read(3, b, 1); }); }' \
        'auto c() { return surely(call::close, [&] { return ::close(3); }); }' \
        '// ::close(3)' '/* ::close(3)' '   ::close(3) */' 'const char* d = "::close(3)";' \
        'io_result close(int fd);' 'io_result kernel::close(int fd);' 'auto e = ::sched_getcpu();'
    plant src/kernel/direct.hpp 'auto recv() { return ::recv(3, b, 1, 0); }'
    plant src/kernel/spawn_child.cpp 'int child() { return ::syscall(SYS_setsid); }'
    accepts door
    ;;
leftovers)
    for word in FIX''ME X''XX TO''DO; do
        plant src/base/a.cpp 'int a;' "int b;  // $word: later"
        rejects "src/base/a.cpp:2:int b;  // $word: later    <- do it or drop it" text leftovers
    done
    plant src/base/a.cpp 'int a;  // AXXXB, mkstemp("fileXXXXXX")'
    accepts text leftovers
    ;;
whitespace)
    plant src/base/a.cpp 'int a; '
    rejects 'src/base/a.cpp:1:int a;     <- white space' text whitespace
    plant src/base/a.cpp $'\tint a;'
    rejects 'or a tab' text whitespace
    plant README.md 'words '
    plant src/base/a.cpp 'int a;'
    rejects 'README.md:1' text whitespace
    plant README.md 'words'
    accepts text whitespace
    ;;
columns)
    long=$(printf '%0100d' 0)
    plant src/base/a.cpp "${long}1"
    rejects 'src/base/a.cpp:1:' text columns
    plant src/base/a.cpp "$long" "é${long:1}"
    plant README.md "$long and more"
    accepts text columns
    ;;
machine-paths)
    for directory in home root work; do
        plant src/base/a.cpp "const char* a = \"/$directory/eve/eddy\";"
        rejects "a path of somebody's machine" text machine-paths
    done
    plant src/base/a.cpp 'const char* a = "/tmp/work/x";' '// base/work/home/root/x'
    accepts text machine-paths
    ;;
adrs)
    rejects 'docs/adr: no record' adrs
    plant docs/adr/0001-a.md '# 1. A'
    plant docs/adr/0003-c.md '# 3. C'
    rejects 'docs/adr/0003-c.md: there is no 0002' adrs
    plant docs/adr/0002-b.md '# 2. B'
    accepts adrs
    plant docs/adr/0002-d.md '# 2. D'
    rejects 'docs/adr/0002-d.md: 0002 is taken by docs/adr/0002-b.md' adrs
    rm "$tree/docs/adr/0002-d.md"
    plant docs/adr/0002-b.md '# 4. B'
    rejects 'docs/adr/0002-b.md: the first line must begin with "# 2. "' adrs
    plant docs/adr/0002-b.md '# 2. B'
    plant docs/adr/NEXT-e.md '# E'
    rejects 'docs/adr/NEXT-e.md: has no number' adrs
    rm "$tree/docs/adr/NEXT-e.md"
    plant src/base/a.cpp '// docs/adr/0004 says why'
    rejects 'src/base/a.cpp:1: docs/adr/0004 does not exist' adrs
    plant src/base/a.cpp '// docs/adr/0003 says why'
    accepts adrs
    ;;
measure)
    command -v ctags >/dev/null || { echo "skipped: no ctags here"; exit 77; }
    limits() { printf '%s\n' "$@" >"$tree/limits.txt"; }
    measure() { "$house/measure.py" "$tree" "$tree/limits.txt"; }
    plant include/eddy/base/a.hpp 'class a {' '    int b();' '    int c();' '    int d(int);' '};' \
        'inline int e() {' '    int f = 1;' '    return f;' '}'
    plant src/base/a.cpp '/// The first.' 'int a;'
    limits 'class_functions 3' 'function_lines 4' 'function_median 4' 'file_lines 9' 'library_lines 11'
    accepts measure
    limits 'class_functions 2  # few'
    rejects 'a: class_functions is 3, and may be 2' measure
    limits 'function_lines 3'
    rejects 'include/eddy/base/a.hpp e: function_lines is 4, and may be 3' measure
    limits 'function_median 3'
    rejects 'function_median is 4' measure
    limits 'file_lines 8'
    rejects 'include/eddy/base/a.hpp: file_lines is 9' measure
    limits 'library_lines 10'
    rejects 'library_lines is 11' measure
    limits 'bare_comments 0'
    accepts measure
    plant src/base/a.cpp '/// The same once more.' 'int a;'
    rejects 'bare_comments is 1' measure
    limits 'markdown_columns 20'
    plant docs/a.md '| a table that is as wide as it likes |' '```' 'and so is a block of code' '```'
    accepts measure
    plant docs/a.md 'a line of prose that is too long'
    rejects 'docs/a.md:1: markdown_columns is 32, and may be 20' measure
    limits 'test_name_length 3'
    plant tests/base/a_test.cpp 'TEST_P(Suite, Name) {}'
    rejects 'tests/base/a_test.cpp Name: test_name_length is 4' measure
    ;;
spdx)
    plant src/base/a.cpp '// SPDX-License-Identifier: Apache-2.0'
    accepts "$house/spdx.sh" "$tree"
    plant src/base/b.cpp 'int a();'
    rejects './src/base/b.cpp: the first lines need' "$house/spdx.sh" "$tree"
    ;;
format)
    cp "$house/../../.clang-format" "$tree/"
    plant src/base/a.cpp 'int  a ( ) { return 1 ; }'
    code=0
    "$house/format.sh" "$tree" >"$tree/said" 2>&1 || code=$?
    [[ $code -ne 77 ]] || { cat "$tree/said"; exit 77; }
    rejects 'run scripts/format' "$house/format.sh" "$tree"
    plant src/base/a.cpp 'int a() { return 1; }'
    accepts "$house/format.sh" "$tree"
    ;;
models)
    command -v spin >/dev/null || { echo "skipped: no spin here"; exit 77; }
    model() { "$house/../model/check-model" "$1" "$tree/$2.pml" "$tree/searched"; }
    plant right.pml 'byte x;' 'active proctype p() { x = 1; assert(x == 1) }'
    plant wrong.pml 'byte x;' 'active [2] proctype p() { x++; assert(x == 1) }'
    plant stuck.pml 'active proctype p() { false }'
    plant deep.pml 'int x;' 'active proctype p() { do :: x < 2000000 -> x++ :: else -> break od }'
    plant wide.pml '// pan: -DSAFETY -UMEMLIM -DMEMLIM=16' 'int x, y, z;' \
        'active [3] proctype p() { do :: x < 900 -> x++ :: y < 900 -> y++ :: z < 900 -> z++ od }'
    plant nonsense.pml 'active proctype p() { '
    accepts model right right
    for twin in wrong stuck; do
        rejects 'no counterexample is kept of it' model broken $twin
        accepts model keep $twin
        accepts model broken $twin
    done
    plant wrong.pml 'byte x;' 'active [2] proctype p() { x++; x++; x--; assert(x == 1) }'
    rejects 'leads nowhere any more' model broken wrong
    rejects 'no error was found' model keep right
    rejects 'errors: 1' model right wrong
    rejects 'errors: 1' model right stuck
    rejects 'no error was found in it' model broken right
    rejects 'deeper than' model right deep
    rejects 'it takes more than' model right wide
    rejects 'spin does not understand it' model right nonsense
    ;;
*)
    echo "no such case: $case" >&2
    exit 2
    ;;
esac
