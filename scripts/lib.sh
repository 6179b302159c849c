# shellcheck shell=bash disable=SC2034
#
# What the scripts share; to be read by bash with `source`
#
# Installing: Debian packages that are missing, without a question and with
# sudo for whoever is not root.  Nothing is asked of apt when all is there.
#
# SPDX-License-Identifier: LGPL-2.1-or-later

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
export PYTHONDONTWRITEBYTECODE=1

# to build the library with every backend, and the command
build_packages=(gcc libc6-dev meson ninja-build pkg-config python3
                libglib2.0-dev nettle-dev libgcrypt20-dev libgnutls28-dev
                libargon2-dev libsodium-dev zlib1g-dev libdeflate-dev
                libzstd-dev liblz4-dev libjansson-dev libssl-dev libisal-dev
                libnbd-dev nbdkit-plugin-dev libnuma-dev
                openssl xz-utils)

# those who know LUKS volumes, disks and NBD too
luks_packages=(cryptsetup-bin qemu-utils nbdkit libnbd-bin e2fsprogs fdisk gdisk)

# what judges the generator's stream
judge_packages=(dieharder rng-tools5)

# what boots a kernel, and what is tried in it (tests/vm)
guest_packages=(qemu-system-x86 busybox-static kmod xz-utils dmsetup
                cryptsetup-bin e2fsprogs)

# what scripts/speed-compare and scripts/bench-report stand on, and the browser
# in which a test looks at the report
compare_packages=(python3-scipy python3-matplotlib chromium)

say()
{
    printf '\n=== %s\n' "$*"
}

die()
{
    echo "$(basename "$0"): $*" >&2
    exit 1
}

as_root()
{
    if [ "$(id -u)" = 0 ]; then
        "$@"
    elif command -v sudo >/dev/null; then
        # -n: no password prompt, an error that names the packages instead
        sudo -n "$@"
    else
        return 1
    fi
}

# apt-get, again for a while when another one holds the lock or a mirror
# stumbles
apt_get()
{
    local attempt

    for attempt in 1 2 3; do
        if as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq -y \
            -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3 \
            -o Dpkg::Use-Pty=0 "$@" </dev/null >"$log" 2>&1; then
            return 0
        fi
        sleep $((attempt * 5))
    done
    return 1
}

# need_packages NAME...: installs those that are missing
need_packages()
{
    local missing=() name log

    command -v dpkg-query >/dev/null ||
        die "this is no Debian system; install the equivalents of: $*"
    for name; do
        [ "$(dpkg-query -W -f '${db:Status-Status}' "$name" 2>/dev/null)" = \
            installed ] || missing+=("$name")
    done
    [ ${#missing[@]} -gt 0 ] || return 0
    say "installing ${missing[*]}"
    log=$(mktemp)
    # a list that cannot be renewed (a third party's) need not matter
    apt_get update || tail -n 2 "$log" >&2
    if ! apt_get install --no-install-recommends "${missing[@]}"; then
        tail -n 5 "$log" >&2
        rm -f "$log"
        die "cannot install; as root: apt-get install ${missing[*]}"
    fi
    rm -f "$log"
}

# configure DIR OPTION...: a build folder, made anew when it does not suit
configure()
{
    local dir=$1

    shift
    # what was asked for is kept beside the build: options of an earlier
    # call must not live on in this one
    if [ -e "$dir/build.ninja" ] && [ "$(cat "$dir/asked" 2>/dev/null)" = "$*" ]; then
        return 0
    fi
    mkdir -p "$dir"
    rm -rf "$dir"/{meson-private,meson-info,build.ninja}
    meson setup "$dir" "$root" "$@" >"$dir/setup.log" 2>&1 || {
        tail -n 30 "$dir/setup.log" >&2
        return 1
    }
    echo "$*" >"$dir/asked"
}
