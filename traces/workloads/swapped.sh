#!/bin/sh
# Files in memory that need more than there is, and are read while others are written: the rest is on the swap. Needs a tmpfs
# at /dev/shm, and swap.
#
#   swapped.sh PERCENT ROUNDS   files of so much of the memory that is available
set -eu

[ $# = 2 ] || { sed -n '2,5s/^# \{0,1\}//p' "$0" >&2; exit 2; }
folder=/dev/shm/swapped.$$
mkdir "$folder"
trap 'rm -rf "$folder"' EXIT
trap 'exit 1' TERM INT HUP
available=$(awk '/^MemAvailable:/ { print int($2 / 1024) }' /proc/meminfo)
each=$((available * $1 / 100 / 8 * 1048576))
i=0
while [ $i -lt 8 ]; do head -c "$each" /dev/zero > "$folder/$i"; i=$((i + 1)); done
i=0
while [ $i -lt "$2" ]; do
    cat "$folder/$(((i + 4) % 8))" > /dev/null &
    rm "$folder/$((i % 8))"
    head -c "$each" /dev/zero > "$folder/$((i % 8))"
    wait
    i=$((i + 1))
done
