#!/bin/sh
# Makes and removes many small files, while another process reads large ones: dentries and inodes
# come and go beside page cache that no longer fits.
#
#   file-churn.sh FOLDER ROUNDS SOURCE   copies the files below SOURCE into FOLDER so many times
set -eu

[ $# = 3 ] || { sed -n '2,5s/^# \{0,1\}//p' "$0" >&2; exit 2; }
mkdir "$1"
find /usr -xdev -type f -size +1M -exec cat {} + > /dev/null 2>&1 & reader=$!
i=0
while [ $i -lt "$2" ]; do cp -r "$3" "$1/$i"; [ $i -lt 2 ] || rm -r "$1/$((i - 2))"; i=$((i + 1)); done
kill $reader 2> /dev/null || true
rm -r "$1"
