#!/bin/sh
# Makes many empty files and removes them in another order, from two shells: dentries and inodes that come and go. Needs a
# tmpfs at /dev/shm.
#
#   names.sh FILES ROUNDS   so many files in each shell at a time
set -eu

[ $# = 2 ] || { sed -n '2,5s/^# \{0,1\}//p' "$0" >&2; exit 2; }
folder=/dev/shm/names.$$
trap 'rm -rf "$folder"' EXIT
trap 'exit 1' TERM INT HUP
mkdir "$folder"
names() {
    mkdir "$folder/$3"
    cd "$folder/$3"
    round=0
    while [ $round -lt "$2" ]; do
        i=0
        while [ $i -lt "$1" ]; do : > "a-rather-long-name-that-needs-memory-of-its-own.$i"; i=$((i + 1)); done
        find . -type f -name '*[1358]' -exec rm -f {} +
        find . -type f -exec rm -f {} +
        round=$((round + 1))
    done
}
names "$1" "$2" one & names "$1" "$2" two & wait
