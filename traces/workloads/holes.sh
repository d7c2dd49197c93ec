#!/bin/sh
# Fills most of a small machine with files in memory, makes holes in them, and asks for pages of the kernel's own in what is left: kernel
# stacks, page tables, inodes, dentries. Needs root and busybox; /tmp is a tmpfs.
set -e
mount -o remount,size=95%,nr_inodes=0 /tmp
cd /tmp
mkdir -p holes inodes
trap 'kill $(jobs -p) 2> /dev/null; cd /; rm -rf /tmp/holes /tmp/inodes' EXIT

# Writes files of $2 bytes into folder $1 until $4 hundredths of what /proc/meminfo calls $3 are used.
fill() {
    awk -v folder="$1" -v bytes="$2" -v row="$3:" -v share="$4" 'BEGIN {
        while ((getline line < "/proc/meminfo") > 0) if (split(line, words, " ") > 1 && words[1] == row) kib = words[2]
        text = "0"
        while (length(text) < bytes) text = text text
        for (number = int(kib * 1024 / bytes * share / 100); number > 0; number--) {
            printf "%s", text > (folder "/" number)
            close(folder "/" number)
        }
    }'
}

fill holes 65536 MemAvailable 75
# Every other file goes away, and smaller ones come, of which four in five go.
find holes -type f -name '*[13579]' -exec rm -f {} +
mkdir holes/small
fill holes/small 16384 MemAvailable 75
find holes/small -type f -name '*[1-8]' -exec rm -f {} +
# The kernel's own.
number=0
while [ "$number" -lt 150 ]; do
    sleep 60 &
    number=$((number + 1))
done
fill inodes 16384 MemAvailable 40
find / -xdev > /dev/null 2>&1
find /sys /proc/[0-9]* > /dev/null 2>&1 || true
rm -rf inodes
