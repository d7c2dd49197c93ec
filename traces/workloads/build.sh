#!/bin/sh
# Compiles a small program of many files, a few at a time.
#
#   build.sh make FOLDER FILES   makes a new folder with so many C files and a Makefile
#   build.sh run FOLDER JOBS     builds it, so many files at a time, and removes the objects again
set -eu

[ $# = 3 ] || { sed -n '2,6s/^# \{0,1\}//p' "$0" >&2; exit 2; }

case "$1" in
make)
    mkdir "$2"
    i=0
    while [ $i -lt "$3" ]; do
        for header in stdio stdlib string math pthread sys/socket; do echo "#include <$header.h>"; done > "$2/part$i.c"
        j=0
        while [ $j -lt 40 ]; do
            echo "int part${i}_$j(int of) { char text[64]; return snprintf(text, sizeof text, \"%d\", of * $j) + (int)strlen(text); }"
            j=$((j + 1))
        done >> "$2/part$i.c"
        i=$((i + 1))
    done
    printf 'all: $(patsubst %%.c,%%.o,$(wildcard *.c))\n' > "$2/Makefile"
    ;;
run)
    make -s -C "$2" -j "$3" CFLAGS=-O1 all
    rm "$2"/*.o
    ;;
esac
