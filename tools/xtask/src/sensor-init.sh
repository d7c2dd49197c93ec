#!/bin/sh
# The first process of a guest: runs the BPF sensor's tests, and prints their results on the console. Run it only in a
# guest, because it powers off at the end.
[ $$ = 1 ] || { echo "$0 is for a guest that starts with it" >&2; exit 2; }
export PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin LC_ALL=C
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mountpoint -q /dev || mount -t devtmpfs dev /dev
mount -t tmpfs tmp /tmp
mount -t tracefs tracefs /sys/kernel/tracing
# Fills the free lists: creates files and removes every other one.
for file in $(seq 400); do head -c 262144 /dev/zero > "/tmp/$file"; done
for file in $(seq 1 2 400); do rm "/tmp/$file"; done
sensor-tests --test-threads=1 --nocapture bpf:: 2>&1
printf '\nfreehold: {"done":true}\n'
sync
echo o > /proc/sysrq-trigger
sleep 60
