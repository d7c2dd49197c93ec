#!/bin/busybox sh
# The first process of a guest of the calibration: mounts disks, and runs the lines that come on the console.
[ $$ = 1 ] || exit 2
/bin/busybox --install -s /bin
export PATH=/bin:/usr/bin HOME=/tmp
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs dev /dev
mkdir -p /dev/shm /ext4 /xfs /state
mount -t tmpfs -o size=95%,nr_inodes=0,mode=1777 shm /dev/shm
mount -t tmpfs -o size=95%,nr_inodes=0,mode=1777 tmp /tmp
stty -echo 2> /dev/null
for module in /modules/*.ko; do
    [ -e "$module" ] && insmod "$module" 2> /dev/null
done
mount -t ext4 /dev/vda /ext4 || echo "FAILED: ext4"
mount -t xfs /dev/vdb /xfs || echo "FAILED: xfs"
cd /sys/kernel/mm/transparent_hugepage || echo "FAILED: transparent huge pages"
echo madvise > enabled
echo madvise > defrag
echo 0 > khugepaged/defrag
ulimit -n 65536
cd /

number=0
# Fragments memory in one way, and keeps it so: way, MiB, seed, folder.
make() {
    number=$((number + 1))
    fragment "$@" > /tmp/said-$number 2>&1 &
    keeper=$!
    until grep -q ready /tmp/said-$number; do
        kill -0 $keeper 2> /dev/null || { echo "FAILED: $*: $(cat /tmp/said-$number)"; break; }
        sleep 0.1
    done
}
# Lets dirty page cache stay dirty.
keep_dirty() {
    cd /proc/sys/vm && echo 90 > dirty_ratio && echo 90 > dirty_background_ratio
    echo 360000 > dirty_expire_centisecs && echo 0 > dirty_writeback_centisecs
    cd /
}
swap() {
    dd if=/dev/zero of=/ext4/swap bs=1M count="$1" 2> /dev/null
    chmod 600 /ext4/swap && mkswap /ext4/swap > /dev/null && swapon /ext4/swap || echo "FAILED: swap"
    drop
}
drop() { sync; echo 3 > /proc/sys/vm/drop_caches; }
pool() { echo "$1" > /proc/sys/vm/nr_hugepages; }

POOL=/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages
# Writes a number to the pool three times, and says after each how many more pages it has.
hugetlb() {
    read -r before < $POOL
    served=
    for try in 1 2 3; do
        echo $((before + $1)) > /proc/sys/vm/nr_hugepages
        read -r now < $POOL
        served="$served $((now - before))"
    done
    echo "served$served"
}
thp() { fragment thp "$1"; }
repair() {
    sync
    echo 1 > /proc/sys/vm/drop_caches
    echo 1 > /proc/sys/vm/compact_memory
    hugetlb "$1"
}
# Prints the files that a forecast is made from. /proc/self is no file of the machine.
files() {
    for file in /proc/zoneinfo /proc/buddyinfo /proc/pagetypeinfo /proc/vmstat /proc/meminfo /proc/slabinfo /proc/swaps \
        /proc/sys/kernel/osrelease /proc/sys/vm/* /proc/kpageflags /proc/kpagecount /sys/kernel/mm/transparent_hugepage/enabled \
        /sys/kernel/mm/transparent_hugepage/defrag /sys/kernel/mm/hugepages/*/*; do
        [ -r "$file" ] || continue
        case $file in */compact_memory | */drop_caches | */stat_refresh | */demote) continue ;; esac
        echo "guest: file $file"
        gzip -c < "$file" | base64
        echo "guest: end"
    done
}
echo READY
while read -r line; do
    eval "$line"
    echo DONE
done
