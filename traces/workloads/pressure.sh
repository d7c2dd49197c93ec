#!/bin/sh
# Puts a machine under memory pressure for a recording, or takes the pressure away again.
#
#   pressure.sh on MIB_LEFT FOLDER...   sets all but MIB_LEFT MiB of the free memory aside as
#                                       hugetlb pages, then fills what is left with the page
#                                       cache of the files below the folders
#   pressure.sh off                     gives all hugetlb pages back
set -eu

free_mib() { awk '/^MemFree:/ { print int($2 / 1024) }' /proc/meminfo; }

case "${1:-}" in
on)
    left=$2
    shift 2
    sync
    echo 3 > /proc/sys/vm/drop_caches
    pages=$(( ($(free_mib) - left) / 2 ))
    [ "$pages" -gt 0 ] || { echo "less than $left MiB are free" >&2; exit 1; }
    had=$(cat /proc/sys/vm/nr_hugepages)
    echo "$((had + pages))" > /proc/sys/vm/nr_hugepages
    find "$@" -xdev -type f -size -4M -exec cat {} + > /dev/null 2>&1 || true
    echo "hugetlb pages: $(cat /proc/sys/vm/nr_hugepages), free: $(free_mib) MiB"
    ;;
off)
    echo 0 > /proc/sys/vm/nr_hugepages
    ;;
*)
    sed -n '2,8s/^# \{0,1\}//p' "$0" >&2
    exit 2
    ;;
esac
