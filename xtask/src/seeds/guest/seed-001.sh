# Seed 001: processes that each map a sparse file and read it through, one and a third times as much as there is memory, on a
# machine as it booted, then where what is free lies in unmovable pageblocks that are more than half full.
counts boot
timed fresh mmap-read 8 128 "$WORK"
counts fresh
echo 3 > /proc/sys/vm/drop_caches
unmovable 300 5 8
counts prepared
timed mixed mmap-read 8 128 "$WORK"
counts mixed
