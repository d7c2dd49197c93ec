#!/bin/busybox sh
# Allocates and frees memory: writes files of several sizes in memory, starts processes, and removes copies in another
# order.
mkdir -p /tmp/load
cd /tmp/load || exit 1
round=0
while [ "$round" -lt 4 ]; do
    number=0
    while [ "$number" -lt 40 ]; do
        dd if=/dev/zero of="small-$number" bs=4096 count=$((number * 7 % 60 + 1)) 2> /dev/null
        number=$((number + 1))
    done
    dd if=/dev/zero of=large bs=1048576 count=16 2> /dev/null
    tar cf all small-*
    rm -f small-*[13579]
    tar xf all 2> /dev/null
    rm -f large all small-*[02468]
    round=$((round + 1))
done
cd /
rm -rf /tmp/load
