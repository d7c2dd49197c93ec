#!/bin/busybox sh
# The first process of a guest: mounts file systems, loads network modules, runs /script, and powers off.
[ $$ = 1 ] || exit 2
/bin/busybox --install -s /bin
export PATH=/bin:/usr/bin HOME=/tmp TERM=vt100
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs dev /dev 2> /dev/null
mount -t debugfs debug /sys/kernel/debug 2> /dev/null
mkdir -p /dev/shm /dev/pts
mount -t tmpfs -o mode=1777,nr_inodes=0 shm /dev/shm
mount -t devpts devpts /dev/pts 2> /dev/null
mount -t tmpfs -o mode=1777,nr_inodes=0 tmp /tmp
exec < /dev/console > /dev/console 2>&1
stty cols 120 rows 40 -echo 2> /dev/null
for module in /modules/*.ko; do
    [ -e "$module" ] && insmod "$module" 2> /dev/null
done
ip link set lo up 2> /dev/null
if [ -e /sys/class/net/eth0 ]; then
    ip addr add 10.0.2.15/24 dev eth0
    ip link set eth0 up
fi
echo "guest: up after $(cut -d ' ' -f 1 /proc/uptime) s: Linux $(uname -r), pages of $(sed -n 's/KernelPageSize: *//p;T;q' /proc/1/smaps)"

# Runs a command, and prints it and its exit code.
run() {
    echo "guest: \$ $*"
    "$@"
    echo "guest: exit $?"
}
# Does the same as a user without privileges.
user() {
    echo "guest: nobody\$ $*"
    su -s /bin/sh nobody -c "cd /tmp; PATH=$PATH; $*"
    echo "guest: exit $?"
}
# Prints a file on the console.
give() {
    echo "guest: file $2"
    base64 "$1"
    echo "guest: end"
}
. /script
echo "guest: done"
sync
poweroff -f
