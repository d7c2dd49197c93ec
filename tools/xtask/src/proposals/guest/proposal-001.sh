# Seed 001: processes that each map a sparse file and read it through, more than there is memory for, where more than half of
# what is free lies in unmovable pageblocks that are more than half full.
unmovable 440 5 8
counts prepared
timed mixed mmap-read 8 64 "$WORK"
counts mixed
