#!/bin/sh
# What a build does, with what a small system has: each of many jobs reads a source, makes a longer text of it, sorts,
# compresses and sums that up, and writes an object; some jobs at a time, and an archive of all objects at the end.
#
#   crunch.sh FOLDER SOURCES JOBS   makes the folder, and removes it at the end
set -eu

[ $# = 3 ] || { sed -n '2,5s/^# \{0,1\}//p' "$0" >&2; exit 2; }
folder=$1
mkdir "$folder"
trap 'rm -rf "$folder"' EXIT
trap 'exit 1' TERM INT HUP
i=0
while [ $i -lt "$2" ]; do
    awk -v seed=$i 'BEGIN { srand(seed); for (line = 0; line < 400; line++) print "int part_" int(rand() * 1000000) "(int of);" }' \
        > "$folder/$i.c"
    i=$((i + 1))
done
job() {
    awk '{ for (i = 0; i < 20; i++) text[NR, i] = $0 " " i } END { for (key in text) print text[key] }' "$1" | sort > "$1.s"
    gzip -c "$1.s" > "$1.o"
    sha256sum "$1.o" > "$1.d"
    rm "$1.s"
}
i=0
while [ $i -lt "$2" ]; do
    n=0
    while [ $n -lt "$3" ] && [ $i -lt "$2" ]; do job "$folder/$i.c" & n=$((n + 1)); i=$((i + 1)); done
    wait
done
tar cf "$folder/all.tar" "$folder"/*.o
