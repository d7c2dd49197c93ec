#!/bin/sh
# A PostgreSQL server of its own in a new folder, for pgbench.
#
#   database.sh start FOLDER SCALE   makes the folder and a database of SCALE times 15 MB, and starts the server
#   database.sh run FOLDER SECONDS   eight clients, TPC-B-like, as fast as they can
#   database.sh stop FOLDER          stops the server and removes the folder
#
# Run as root, it runs PostgreSQL as the user postgres, which its Debian package makes.
set -eu

[ $# -ge 2 ] || { sed -n '2,8s/^# \{0,1\}//p' "$0" >&2; exit 2; }
folder=$(realpath -m "$2")
bin=$(ls -d /usr/lib/postgresql/*/bin | tail -n 1)
as() { if [ "$(id -u)" = 0 ]; then setpriv --reuid postgres --regid postgres --clear-groups "$@"; else "$@"; fi; }

case "$1" in
start)
    mkdir "$folder"
    [ "$(id -u)" != 0 ] || chown postgres "$folder"
    cd "$folder"
    as "$bin/initdb" -D "$folder/data" > "$folder/log"
    as "$bin/pg_ctl" -D "$folder/data" -l "$folder/data/log" -w \
        -o "-k $folder -c listen_addresses= -c shared_buffers=64MB -c max_wal_size=64MB" start > /dev/null
    as "$bin/createdb" -h "$folder" bench
    as "$bin/pgbench" -h "$folder" -i -q -s "$3" bench 2> /dev/null
    ;;
run)
    cd "$folder"
    as "$bin/pgbench" -h "$folder" -n -c 8 -j 2 -T "$3" bench
    ;;
stop)
    cd /
    as "$bin/pg_ctl" -D "$folder/data" -m fast stop > /dev/null
    rm -r "$folder"
    ;;
esac
