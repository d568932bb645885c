#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# deps.sh [run] [build] [package] [docs] [test]: installs the Debian 12 packages that are
# missing (default: all groups). As root or with sudo that asks nothing; otherwise it
# prints what to install and exits 1. Instant when nothing is missing.
set -eu

# The -dev packages bring the libraries that the programs run with.
run='procps'
build='gcc make pkg-config libc6-dev binutils libczmq-dev libzmq3-dev
    libsqlite3-dev libpq-dev libmicrohttpd-dev
    libjansson-dev libhwloc-dev uthash-dev libsystemd-dev zlib1g-dev
    libncurses-dev libjs-chart.js'
# For make deb and make rpm.
package='debhelper dpkg-dev rpm'
test='libcmocka-dev libprotobuf-c-dev protobuf-c-compiler python3 python3-jsonschema fiu-utils clang clang-format clang-tidy
    libclang-rt-14-dev chromium curl lintian mmdebstrap podman runc
    systemd systemd-container iproute2 snakemake postgresql slurmctld slurmd slurm-client munge nginx-light openssl'
# For make site.
docs='python3-sphinx python3-myst-parser'
# For the tests of the page. Another node than Debian's brings its own npm.
if ! command -v node >/dev/null 2>&1 || ! command -v npm >/dev/null 2>&1; then
    test="$test nodejs npm"
fi

wanted=
[ $# -gt 0 ] || set -- run build package docs test
for group in "$@"; do
    case $group in
    run) wanted="$wanted $run" ;;
    build) wanted="$wanted $build" ;;
    package) wanted="$wanted $package" ;;
    docs) wanted="$wanted $docs" ;;
    test) wanted="$wanted $test" ;;
    *)
        echo "usage: deps.sh [run] [build] [package] [docs] [test]" >&2
        exit 2
        ;;
    esac
done

if ! command -v dpkg-query >/dev/null 2>&1; then
    echo "deps.sh: not a Debian system, expected what these packages hold:" >&2
    echo $wanted >&2
    exit 1
fi

# Names stand unquoted in echo and set on purpose: they are lists of words.
installed=$(dpkg-query -W -f='${db:Status-Status} ${Package}\n' $wanted 2>/dev/null |
    sed -n 's/^installed //p')
missing=
for package in $wanted; do
    case "
$installed
" in
    *"
$package
"*) ;;
    *) missing="$missing $package" ;;
    esac
done
[ -n "$missing" ] || exit 0

if [ "$(id -u)" = 0 ]; then
    as_root=
elif command -v sudo >/dev/null 2>&1 && sudo -n true 2>/dev/null; then
    as_root='sudo -n'
else
    echo "deps.sh: missing packages; as root, run:" >&2
    echo "  apt-get install --no-install-recommends$missing" >&2
    exit 1
fi

echo "deps.sh: installing$missing" >&2
# Tests start servers of their own; Debian's package would start one for all.
case " $missing " in
*' postgresql '*)
    $as_root mkdir -p /etc/postgresql-common
    [ -e /etc/postgresql-common/createcluster.conf ] ||
        echo 'create_main_cluster = false' |
        $as_root tee /etc/postgresql-common/createcluster.conf >/dev/null
    ;;
esac
export DEBIAN_FRONTEND=noninteractive
$as_root apt-get update -q >&2
$as_root apt-get install -q -y --no-install-recommends $missing >&2
