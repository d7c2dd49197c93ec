#!/bin/sh
# Transparent huge pages in batches, while large files are read; needs `thp-churn`.
#
#   huge-pages.sh BATCHES MIB_PER_BATCH FOLDER   the folder that `cached-files.sh make` has made
set -eu

[ $# = 3 ] || { sed -n '2,4s/^# \{0,1\}//p' "$0" >&2; exit 2; }
exec thp-churn "$1" "$2" "$3"/large.*
