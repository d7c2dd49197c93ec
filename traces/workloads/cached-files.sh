#!/bin/sh
# Files on a disk that together are larger than what memory is left for them: two shells read them again and again, while
# small ones are copied and removed.
#
#   cached-files.sh make FOLDER MIB   makes the folder: files of 64 KiB to 4 MiB, so many MiB of them, and 400 small ones
#   cached-files.sh run FOLDER ROUNDS
set -eu

[ $# = 3 ] || { sed -n '2,6s/^# \{0,1\}//p' "$0" >&2; exit 2; }
case "$1" in
make)
    mkdir "$2" "$2/small"
    left=$(($3 * 1024)) size=64
    while [ $left -gt 0 ]; do
        dd if=/dev/zero of="$2/large.$left" bs=65536 count=$((size / 64)) 2> /dev/null
        left=$((left - size)) size=$((size >= 4096 ? 64 : size * 2))
    done
    i=0
    while [ $i -lt 400 ]; do dd if=/dev/zero of="$2/small/$i" bs=1000 count=$((i % 9 + 1)) 2> /dev/null; i=$((i + 1)); done
    sync
    ;;
run)
    again() { i=0; while [ $i -lt "$2" ]; do cat "$1"/large.* > /dev/null; i=$((i + 1)); done; }
    again "$2" "$3" & one=$!
    again "$2" "$3" & two=$!
    i=0
    while [ $i -lt "$3" ]; do
        cp -r "$2/small" "$2/copy.$i"
        [ $i = 0 ] || rm -r "$2/copy.$((i - 1))"
        i=$((i + 1))
    done
    wait $one $two
    ;;
esac
