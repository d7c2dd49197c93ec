# Proposal 001: processes map sparse files that exceed the memory, and read them. More than half of the free memory is
# in unmovable pageblocks that are more than half full.
unmovable 440 5 8
counts prepared
timed mixed mmap-read 8 64 "$WORK"
counts mixed
