# Seed 004: a cache server, builds one after the other, and batches of huge pages meanwhile, on a machine whose memory has been
# in use: page cache filled it before, and kernel memory grew and shrank beside it.
builds=2
echo madvise > /sys/kernel/mm/transparent_hugepage/enabled
# Which of the disks a kernel finds first is chance: the one for swap is the one without a partition.
for disk in /sys/block/nvme*; do
    [ -e "$disk/${disk##*/}p1" ] || swap=/dev/${disk##*/}
done
mkswap "$swap" > /dev/null
swapon "$swap"
truncate -s 640M "$WORK/sparse"
for turn in 1 2 3; do
    cat "$WORK/sparse" > /dev/null
    unmovable 48 1 4
done
cat $(large-files.sh) > /dev/null
build.sh make "$WORK/program" 8
cache-server 270 420 400 &
sleep 6
counts prepared
for number in $(seq $builds); do
    vmstat "before $number"
    huge-batches 128 100 &
    batches=$!
    timed "build $number" build.sh run "$WORK/program" 3
    kill -TERM $batches
    wait $batches
    vmstat "after $number"
    counts "build $number"
done
