#!/bin/sh
# Leaves a machine so much memory, in the same state on any kernel: caches are dropped, files in memory take what is free,
# of every type, down to 16 MiB, and the file that was written first, from Movable's own pages, is removed again. The
# rest stays aside until the machine goes down. Free pages are counted with those on CPUs' lists. Needs a tmpfs at /dev/shm.
#
#   leave.sh MIB_LEFT
set -eu

[ $# = 1 ] || { sed -n '2,6s/^# \{0,1\}//p' "$0" >&2; exit 2; }
# Enough for the kernel to stay above its low mark.
kept_kib=16384
free_kib() {
    awk '/pages free/ { pages += $3 } $1 == "count:" { pages += $2 } END { print 4 * pages }' /proc/zoneinfo
}
# Drops what can be dropped. Inodes and dentries are free only after a while.
drop() {
    echo 3 > /proc/sys/vm/drop_caches
    sleep 0.3
}
# Writes a file until so many KiB are free: what a file needs besides its pages shows in the next turn.
until_free() {
    for _ in 1 2 3; do
        more=$(($(free_kib) - $2))
        [ "$more" -le 0 ] || head -c "${more}K" /dev/zero >> "/dev/shm/$1"
        drop
    done
}
sync
drop
free=$(free_kib)
[ "$free" -gt $(($1 * 1024)) ] || { echo "$free KiB are free, less than $1 MiB" >&2; exit 1; }
until_free first $((free - $1 * 1024 + kept_kib))
until_free aside "$kept_kib"
rm /dev/shm/first
free=$(free_kib)
off=$((free - $1 * 1024))
[ "${off#-}" -le 4096 ] || { echo "$free KiB are free, not $1 MiB" >&2; exit 1; }
echo "$free KiB left"
