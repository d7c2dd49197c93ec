# Seed 004: a cache server, builds one after the other, and batches of huge pages meanwhile. The first build, without
# huge pages, is not counted: it brings what the builds need into memory.
builds=3
echo madvise > /sys/kernel/mm/transparent_hugepage/enabled
mkswap /dev/nvme1n1 > /dev/null
swapon /dev/nvme1n1
cat $(large-files.sh) > /dev/null
build.sh make "$WORK/program" 8
cache-server 150 260 300 &
build.sh run "$WORK/program" 3
counts prepared
for number in $(seq $builds); do
    vmstat "before $number"
    huge-batches 192 100 &
    batches=$!
    timed "build $number" build.sh run "$WORK/program" 3
    kill -TERM $batches
    wait $batches
    vmstat "after $number"
    counts "build $number"
done
