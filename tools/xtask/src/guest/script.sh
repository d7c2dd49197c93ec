# Runs every command, as root and as the user nobody.
# Waits until the server answers.
answers() {
    for try in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
        wget -q -O /tmp/metrics "http://127.0.0.1:$1/metrics" && return
        sleep 1
    done
}
pages=$(sed -n 's/KernelPageSize: *\([0-9]*\) kB/\1K/p;T;q' /proc/1/smaps)
run freehold --version
run cat /proc/buddyinfo
run freehold check
run freehold check --order 3 --need 20
run freehold check --verify
run freehold snapshot
run freehold snapshot --sensor procfs --format buddyinfo
run freehold snapshot --format json > /tmp/snapshot.json
grep -o '"sensor": *"[^"]*"' /tmp/snapshot.json
# If pagetypeinfo has the same number before and after the program, BPF must report that number, too. Only BPF sees the
# pages that the program itself allocates and frees, so there are several attempts.
for try in 1 2 3 4 5 6 7 8; do
    cat /proc/pagetypeinfo > /tmp/before
    cat /proc/pagetypeinfo > /tmp/before
    freehold snapshot --sensor bpf > /tmp/bpf 2> /tmp/bpf-said || cat /tmp/bpf-said
    cat /proc/pagetypeinfo > /tmp/after
    same=$(awk '
        FILENAME == "/tmp/before" { before[FNR] = $0; next }
        FILENAME == "/tmp/after" { after[FNR] = $0; next }
        { fields = split(before[FNR], was, " "); split(after[FNR], is, " "); if (fields != NF) other++
          for (i = 1; i <= NF; i++) if ($i ~ /^[0-9]+$/ && was[i] == is[i]) { still++; if ($i != is[i]) other++ } }
        END { printf "%s, %d numbers that did not move, %d of them other",
              (still > 20 && other == 0) ? "yes" : "no", still, other }
    ' /tmp/before /tmp/after /tmp/bpf)
    case $same in yes*) break ;; esac
done
echo "guest: BPF equals pagetypeinfo: $same, try $try"
run freehold watch --above free_pages=1 --timeout 20
run timeout -s INT 6 freehold top
stty sane cols 120 rows 40 -echo 2> /dev/null
echo
freehold serve --listen 0.0.0.0:9321 & server=$!
answers 9321
echo "guest: serving"
if [ -e /sys/class/net/eth0 ]; then read -r -t 60 answer; echo "guest: outside: ${answer:-nobody came}"; fi
echo "guest: $(grep -c '^freehold' /tmp/metrics) metrics inside"
kill "$server"
wait "$server"
echo "guest: serve: exit $?"
run freehold record -o /tmp/trace.arrows -- sh /load
run freehold trace info /tmp/trace.arrows
run freehold dev generate mmap-read --events 2000 -o /tmp/made.arrows
run freehold replay /tmp/made.arrows --era linux-6.12
run freehold trace head /tmp/trace.arrows > /tmp/head
run freehold compare /tmp/made.arrows --replicates 2
run freehold sweep /tmp/made.arrows --vary counts=on,off --replicates 2 -o /tmp/swept.parquet
run freehold predict /tmp/made.arrows --set era=linux-7.3 --replicates 2
# Imports a part of the kernel's text of its events.
mount -t tracefs tracefs /sys/kernel/tracing 2> /dev/null
cat /proc/zoneinfo > /tmp/zoneinfo
cat /proc/pagetypeinfo > /tmp/pagetypeinfo
for event in mm_page_alloc mm_page_free mm_page_alloc_extfrag; do
    echo 1 > "/sys/kernel/tracing/events/kmem/$event/enable"
done
ls -R /sys > /dev/null 2>&1
for event in mm_page_alloc mm_page_free mm_page_alloc_extfrag; do
    echo 0 > "/sys/kernel/tracing/events/kmem/$event/enable"
done
head -n 3000 /sys/kernel/tracing/trace > /tmp/ftrace.txt
import="freehold import /tmp/ftrace.txt --zoneinfo /tmp/zoneinfo --pagetypeinfo /tmp/pagetypeinfo --page-size $pages"
run $import -o /tmp/imported.arrows
run freehold trace info /tmp/imported.arrows
run freehold dev completions bash > /dev/null
user freehold --version
user freehold check
user freehold check --verify
user freehold snapshot
user freehold snapshot --format buddyinfo
user freehold record -o /tmp/nobody.arrows -- true
user freehold watch --above free_pages=1 --timeout 20
user timeout -s INT 4 freehold top
stty sane cols 120 rows 40 -echo 2> /dev/null
echo
su -s /bin/sh nobody -c "PATH=$PATH; freehold serve --listen 127.0.0.1:9322" & server=$!
answers 9322
echo "guest: $(grep -c '^freehold' /tmp/metrics) metrics of nobody"
kill "$server"
user freehold analyze /tmp/trace.arrows
user freehold dev generate mmap-read --events 2000 -o /tmp/nobody-made.arrows
user freehold replay /tmp/nobody-made.arrows --era freehold
user freehold compare /tmp/nobody-made.arrows --replicates 2
user freehold sweep /tmp/nobody-made.arrows --vary counts=on,off --replicates 2 -o /tmp/nobody-swept.parquet
user freehold predict /tmp/nobody-made.arrows --set era=linux-7.3 --replicates 2
chmod a+r /tmp/ftrace.txt /tmp/zoneinfo /tmp/pagetypeinfo
user "$import" -o /tmp/nobody-imported.arrows
give /tmp/trace.arrows trace.arrows
give /tmp/snapshot.json snapshot.json
