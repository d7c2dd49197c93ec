#!/bin/sh
# A cache server and its clients for a while; needs `cache-server`.
#
#   serve-cache.sh SECONDS LEAST_MIB MOST_MIB SOCKETS
set -eu

[ $# = 4 ] || { sed -n '2,4s/^# \{0,1\}//p' "$0" >&2; exit 2; }
cache-server "$2" "$3" "$4" & server=$!
sleep "$1"
kill "$server"
wait "$server" || [ $? = 143 ]
