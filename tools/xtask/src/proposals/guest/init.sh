#!/bin/sh
# The first process of a guest: runs the workload of a proposal, and prints JSON objects on the console, one per line.
# Run it only in a guest, because it powers off at the end.
[ $$ = 1 ] || { echo "$0 is for a guest that starts with it" >&2; exit 2; }
export PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin LC_ALL=C WORK=/var/tmp/freehold
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mountpoint -q /dev || mount -t devtmpfs dev /dev
mount -t debugfs debugfs /sys/kernel/debug
mount -t tmpfs tmp /tmp
mkdir -p "$WORK"
watched=/sys/kernel/debug/freehold_watch

say() { printf '\nfreehold: %s\n' "$1"; }
# Prints the counts of a phase, and begins to count the next one. A kernel without the module prints nothing.
counts() {
    [ -e $watched ] || return 0
    say "{\"phase\":\"$1\",\"counts\":$(cat $watched)}"
    echo > $watched
}
# Prints the counters of /proc/vmstat that a table may need.
vmstat() {
    say "{\"phase\":\"$1\",\"vmstat\":{$(awk '/^(thp_fault|compact_|allocstall|pgscan_|pgsteal_|pswp|workingset_refault|pgfault|pgalloc)/ { printf "%s\"%s\":%s", between, $1, $2; between = "," }' /proc/vmstat)}}"
}

for word in $(cat /proc/cmdline); do
    case $word in
    freehold.proposal=*) proposal=${word#*=} ;;
    esac
done
if (set -eu; . "/usr/local/bin/proposal-$proposal.sh") 2> /tmp/said; then
    say '{"done":true}'
else
    say "{\"error\":\"$(tail -n 3 /tmp/said | tr -d '"\\' | tr '\n\t' '; ')\"}"
fi
sync
echo o > /proc/sysrq-trigger
sleep 60
