#!/bin/sh
# The first process of a guest: makes the requested settings, prepares, records, and copies the trace to a disk.
# Run it only in a guest, because it writes to a disk and powers off.
[ $$ = 1 ] || { echo "$0 is for a guest that starts with it" >&2; exit 2; }
export PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin LC_ALL=C
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mountpoint -q /dev || mount -t devtmpfs dev /dev
mkdir -p /dev/shm
mount -t tmpfs -o size=95% shm /dev/shm
mount -t tracefs tracefs /sys/kernel/tracing
mount -t tmpfs tmp /tmp
export WORK=/var/tmp/freehold
mkdir -p "$WORK"
set_to() {
    echo "${1#*=}" > "/proc/sys/vm/${1%%=*}" || { echo "FAILED: $1"; echo o > /proc/sysrq-trigger; sleep 60; }
}
for word in $(cat /proc/cmdline); do
    case $word in
    freehold.workload=*) workload=${word#*=} ;;
    freehold.drained=*) drained=drained; mount -t debugfs debugfs /sys/kernel/debug ;;
    freehold.set=*) set_to "${word#*=}" ;;
    freehold.late=*) late="${late:-} ${word#*=}" ;;
    esac
done
echo "up after $(cut -d ' ' -f 1 /proc/uptime) s: Linux $(uname -r)"
sh "/usr/local/bin/prepare-$workload" || echo "FAILED: prepare-$workload"
# The processor time of a kernel thread in nanoseconds.
daemon() {
    for comm in /proc/[0-9]*/comm; do
        read -r name < "$comm" && [ "$name" = "$1" ] && cut -d ' ' -f 1 "${comm%comm}schedstat"
    done
}
counters() { grep -E '^(tidy_|pgmigrate_|compact_stall|compact_success|compact_fail|allocstall_|thp_fault_)' /proc/vmstat; }
# Free pageblocks of 512 pages, free pages, and pages on CPUs' lists.
cat > /tmp/state << 'END'
awk -v name="$1" '{ sum += $14 + 2 * $15 } END { printf ",\"%s_pageblocks\":%d", name, sum }' /proc/buddyinfo
awk -v name="$1" '$1 == "nr_free_pages" { free += $2 } $1 == "count:" { listed += $2 }
    END { printf ",\"%s_pages\":%d,\"%s_listed\":%d", name, free, name, listed }' /proc/zoneinfo
END
# Runs the work, and prints its duration and the state after it.
cat > /tmp/work << 'END'
kill -USR1 "$2"
read -r begun _ < /proc/uptime
sh "/usr/local/bin/run-$1" || exit 1
read -r ended _ < /proc/uptime
kill "$2"
echo ",\"seconds\":$(echo "$ended $begun" | awk '{ print $1 - $2 }')$(sh /tmp/state end)" > /tmp/states
END
pageblocks watch > /tmp/mean & watcher=$!
counters > /tmp/before
compacted=$(daemon kcompactd0)
for setting in ${late:-}; do set_to "$setting"; done
echo "prepared after $(cut -d ' ' -f 1 /proc/uptime) s"
freehold record --detail -o /var/trace.arrows --force -- sh /tmp/work "$workload" "$watcher" 2> /tmp/said || echo "FAILED: record"
wait "$watcher"
# The state after draining the CPUs' lists.
if [ "${drained:-}" ]; then
    echo settle > /sys/kernel/debug/freehold_bench || echo "FAILED: settle"
    { sh /tmp/state drained; pageblocks mixed; } >> /tmp/states
fi
tr '\r' '\n' < /tmp/said | tail -n 3
more=$(counters | cat /tmp/before - | awk '{ if ($1 in had) { printf ",\"%s\":%d", $1, $2 - had[$1] } else { had[$1] = $2 } }')
echo "cost: {\"kcompactd_ns\":$(echo "$(daemon kcompactd0) ${compacted:-0}" | awk '{ print $1 - $2 }')$more$(tr -d '\n' < /tmp/states)$(cat /tmp/mean)}"
echo "recorded after $(cut -d ' ' -f 1 /proc/uptime) s"
# The order in which a kernel finds the disks varies: the disk for the trace has no partition.
for disk in /sys/block/nvme*; do
    [ -e "$disk/${disk##*/}p1" ] || out=/dev/${disk##*/}
done
dd if=/var/trace.arrows of="$out" bs=1M seek=1 2> /dev/null
sync
printf '%020d' "$(stat -c %s /var/trace.arrows)" | dd of="$out" conv=notrunc 2> /dev/null
sync
echo o > /proc/sysrq-trigger
sleep 60
