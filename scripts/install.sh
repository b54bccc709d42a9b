# SPDX-License-Identifier: Apache-2.0
# Sourced by the commands at the root: `need build tests` installs the Debian packages of these
# groups that are missing, and does nothing at all if none is.

packages_build="g++ cmake ninja-build pkg-config liburing-dev ccache"
packages_tests="python3 universal-ctags libgtest-dev libgmock-dev spin strace clang-format-19 libhttp-parser-dev netcat-openbsd curl wrk libglib2.0-dev libuv1-dev"
packages_full=""
packages_full_optional="libgrpc++-dev"
packages_bench="libbenchmark-dev libuv1-dev libevent-dev libev-dev libasio-dev strace valgrind python3-matplotlib"
packages_bench_optional="linux-perf libgrpc++-dev"
packages_clang="clang-19 libclang-rt-19-dev"
packages_tidy="clang-tidy-19"

say() { printf '%s\n' "$*" >&2; }

die() {
    say "error: $*"
    exit 1
}

is_installed() {
    [[ "$(dpkg-query -W -f '${db:Status-Abbrev}' "$1" 2>/dev/null)" == ii* ]]
}

missing_of() {
    local package
    for package in "$@"; do
        is_installed "$package" || printf '%s ' "$package"
    done
}

# as_root COMMAND...: fails if we cannot become root without asking anybody.
as_root() {
    if [[ $EUID -eq 0 ]]; then
        "$@"
    else
        sudo -n "$@"
    fi
}

may_become_root() {
    [[ $EUID -eq 0 ]] || { command -v sudo >/dev/null && sudo -n true 2>/dev/null; }
}

apt_lists_are_fresh=

# apt_install PACKAGE...: quiet unless it fails.
apt_install() {
    local log
    log=$(mktemp "${TMPDIR:-/tmp}/eddy-install.XXXXXX.log")
    if ! {
        { [[ -n $apt_lists_are_fresh ]] || as_root apt-get update; } &&
            as_root env DEBIAN_FRONTEND=noninteractive \
                apt-get install --yes --no-install-recommends "$@"
    } >"$log" 2>&1 </dev/null; then
        cat "$log" >&2
        rm -f "$log"
        return 1
    fi
    rm -f "$log"
    apt_lists_are_fresh=yes
}

need() {
    local group names missing="" optional=""
    # Not Debian: whoever has no dpkg installs the things by hand, and cmake names what it lacks.
    command -v dpkg-query >/dev/null || return 0
    for group in "$@"; do
        names="packages_$group"
        # shellcheck disable=SC2086
        missing+=$(missing_of ${!names})
        names="packages_${group}_optional"
        # shellcheck disable=SC2086
        [[ -z ${!names:-} ]] || optional+=$(missing_of ${!names})
    done
    if [[ -n $missing ]]; then
        may_become_root ||
            die "these packages are missing, and only root can install them. Run:
    sudo apt-get install --no-install-recommends $missing"
        say "installing $missing"
        # shellcheck disable=SC2086
        apt_install $missing || die "apt-get failed (its output is above). Mend that, or run:
    apt-get install --no-install-recommends $missing"
    fi
    if [[ -n $optional ]] && may_become_root; then
        say "installing $optional(optional)"
        # shellcheck disable=SC2086
        apt_install $optional >/dev/null 2>&1 || say "could not install $optional: going on without"
    fi
}

# configure_preset PRESET: quiet unless it fails.
configure_preset() {
    local preset=$1 log="build/$1.configure.log"
    mkdir -p build
    say "[$preset] configuring"
    if ! cmake --preset "$preset" >"$log" 2>&1; then
        cat "$log" >&2
        die "cmake could not configure preset $preset (its output is above)"
    fi
}

# build_preset PRESET [TARGET...]: configures and builds.
build_preset() {
    local preset=$1 targets=()
    shift
    [[ $# -eq 0 ]] || targets=(--target "$@")
    # What ccache has of one clone serves another: paths in the clone count as relative ones.
    export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1
    configure_preset "$preset"
    say "[$preset] building"
    cmake --build --preset "$preset" "${targets[@]}" >&2 ||
        die "preset $preset did not build (the compiler's words are above)"
}
