#!/bin/sh
# Keeps a machine near its watermarks: files in memory take almost all of it, grow and go, while page cache
# is read and reclaimed. Needs a tmpfs at /dev/shm.
#
#   near-the-marks.sh MIB_LEFT ROUNDS
set -eu

[ $# = 2 ] || { sed -n '2,5s/^# \{0,1\}//p' "$0" >&2; exit 2; }
folder=/dev/shm/near-the-marks.$$
mkdir "$folder"
trap 'rm -r "$folder"' EXIT
trap 'exit 1' TERM INT HUP
available=$(awk '/^MemAvailable:/ { print int($2 / 1024) }' /proc/meminfo)
head -c "$(((available - $1) * 1048576))" /dev/zero > "$folder/base"
i=0
while [ $i -lt "$2" ]; do
    find /usr/lib -xdev -type f -size +64k -size -4M -exec head -q -c 262144 {} + 2> /dev/null | head -c 100663296 > /dev/null &
    head -c "$(($1 * 1048576 / 3))" /dev/zero > "$folder/more"
    find /usr/share -xdev -type f > /dev/null
    wait
    rm "$folder/more"
    i=$((i + 1))
done
