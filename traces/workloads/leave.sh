#!/bin/sh
# Leaves a machine so much memory, on any kernel: caches are dropped, and what is free beyond it, pages on CPUs' lists
# included, is set aside in a file in memory until the machine goes down. Needs a tmpfs at /dev/shm.
#
#   leave.sh MIB_LEFT
set -eu

[ $# = 1 ] || { sed -n '2,5s/^# \{0,1\}//p' "$0" >&2; exit 2; }
free_kib() {
    awk '/pages free/ { pages += $3 } $1 == "count:" { pages += $2 } END { print 4 * pages }' /proc/zoneinfo
}
sync
echo 3 > /proc/sys/vm/drop_caches
[ "$(free_kib)" -gt $(($1 * 1024)) ] || { echo "less than $1 MiB are free" >&2; exit 1; }
# What the file itself needs besides its pages shows in the next turn.
for _ in 1 2 3; do
    more=$(($(free_kib) - $1 * 1024))
    [ "$more" -le 0 ] || head -c "${more}K" /dev/zero >> /dev/shm/aside
    echo 3 > /proc/sys/vm/drop_caches
done
echo "$(free_kib) KiB left"
