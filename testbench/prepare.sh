# SPDX-License-Identifier: Apache-2.0
# Sourced by run and test: packages that are missing, configuration and build. Whatever it has to say goes to standard
# error, so that the output of vinic stays alone on standard output. Status 2: this machine lacks something.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=$root/build

fail() {
    echo "$(basename "$0"): $*" >&2
    exit 2
}

missing_packages() {
    local wanted
    mapfile -t wanted < <(grep -v '^#' "$root/testbench/packages.txt")
    # dpkg-query exits 1 and says nothing on standard output for a package it never heard of.
    comm -23 <(printf '%s\n' "${wanted[@]}" | sort) <(
        dpkg-query -W -f='${db:Status-Status} ${Package}\n' "${wanted[@]}" 2>/dev/null | sed -n 's/^installed //p' | sort -u)
}

install_packages() {
    command -v dpkg-query >/dev/null || return 0 # not Debian: CMake will say what it misses
    local missing as_root=()
    mapfile -t missing < <(missing_packages)
    ((${#missing[@]})) || return 0
    local command="apt-get install ${missing[*]}"
    command -v apt-get >/dev/null || fail "these Debian packages are missing: ${missing[*]}"
    if ((EUID != 0)); then
        command -v sudo >/dev/null || fail "packages are missing and there is no sudo; as root, run: $command"
        [[ -t 0 ]] || fail "packages are missing; run: sudo $command"
        echo "Missing Debian packages: ${missing[*]}" >&2
        local answer
        read -r -p "Install them with sudo? [y/N] " answer
        [[ $answer == [yY]* ]] || fail "packages are missing; run: sudo $command"
        as_root=(sudo)
    fi
    echo "Installing ${missing[*]}" >&2
    as_root+=(env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=600)
    # An update that fails for one of several sources need not matter; what cannot be installed is said below.
    "${as_root[@]}" update >&2 || echo "$(basename "$0"): apt-get update failed; trying with the lists at hand" >&2
    "${as_root[@]}" install --no-install-recommends "${missing[@]}" >&2 || true
    mapfile -t missing < <(missing_packages)
    ((${#missing[@]} == 0)) || fail "could not install: ${missing[*]}"
}

# build_targets TARGET...: configures once, builds what is out of date; silent when nothing is. One caller at a time.
build_targets() {
    mkdir -p "$build"
    exec 9>"$build/.lock"
    flock -n 9 || { echo "Waiting for another build in $build" >&2 && flock 9; }
    if [[ ! -f $build/build.ninja ]]; then
        echo "Configuring $build" >&2
        (cd "$root" && cmake --preset release >"$build/configure.log" 2>&1) || {
            cat "$build/configure.log" >&2
            fail "cannot configure (above, and in $build/configure.log)"
        }
    fi
    if [[ $(ninja -C "$build" -n "$@" 2>&1 | tail -1) != *"no work to do"* ]]; then
        echo "Building $*" >&2
        ninja -C "$build" "$@" >&2 9>&- || fail "the build failed"
    fi
    exec 9>&-
}
