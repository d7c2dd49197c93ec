# Proposal 004: a cache server, builds one after the other, and batches of huge pages at the same time, on a machine
# whose memory is full of page cache. During each build kernel memory grows, and all but an eighth is freed again.
builds=4
echo madvise > /sys/kernel/mm/transparent_hugepage/enabled
# The order in which a kernel finds the disks varies: the disk for swap has no partition.
for disk in /sys/block/nvme*; do
    [ -e "$disk/${disk##*/}p1" ] || swap=/dev/${disk##*/}
done
mkswap "$swap" > /dev/null
swapon "$swap"
truncate -s 640M "$WORK/sparse"
cat "$WORK/sparse" "$WORK/sparse" > /dev/null
cat $(large-files.sh) > /dev/null
build.sh make "$WORK/program" 8
cache-server 270 420 400 &
sleep 6
counts prepared
for number in $(seq $builds); do
    vmstat "before $number"
    huge-batches 128 100 &
    batches=$!
    (unmovable 40 1 8; forks.sh 40; unmovable 40 1 8) &
    kernel=$!
    timed "build $number" build.sh run "$WORK/program" 3
    wait $kernel
    kill -TERM $batches
    wait $batches
    vmstat "after $number"
    counts "build $number"
done
