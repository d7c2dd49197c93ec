#!/bin/sh
# Writes files in memory and removes them, from two shells: single pages come and go by the thousand, as many on each
# kernel. Needs a tmpfs at /dev/shm.
#
#   memory-files.sh MIB ROUNDS   files of so many MiB, one after the other in each shell
set -eu

[ $# = 2 ] || { sed -n '2,5s/^# \{0,1\}//p' "$0" >&2; exit 2; }
trap 'rm -f "/dev/shm/memory-files.$$".*' EXIT
trap 'exit 1' TERM INT HUP
files() {
    i=0
    while [ $i -lt "$2" ]; do
        head -c "$(($1 * 1048576))" /dev/zero > "/dev/shm/memory-files.$$.$3"
        rm "/dev/shm/memory-files.$$.$3"
        i=$((i + 1))
    done
}
files "$1" "$2" one & files "$1" "$2" two & wait
