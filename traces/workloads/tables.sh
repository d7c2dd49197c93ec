#!/bin/sh
# A database in a file: rows are added, looked for, sorted, changed and removed, by two processes on a file each.
#
#   tables.sh FOLDER ROWS   makes the folder, and removes it at the end
set -eu

[ $# = 2 ] || { sed -n '2,4s/^# \{0,1\}//p' "$0" >&2; exit 2; }
mkdir "$1"
one() {
    sqlite3 "$1" > /dev/null <<SQL
PRAGMA journal_mode = WAL;
PRAGMA cache_size = -8000;
CREATE TABLE rows (id INTEGER PRIMARY KEY, name TEXT, value INTEGER);
INSERT INTO rows WITH RECURSIVE count(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM count WHERE n < $2)
    SELECT n, hex(randomblob(60)), abs(random()) % $2 FROM count;
CREATE INDEX by_value ON rows (value);
SELECT name FROM rows ORDER BY name LIMIT 10;
UPDATE rows SET name = name || name WHERE id % 3 = 0;
DELETE FROM rows WHERE value % 2 = 0;
SELECT count(*), sum(length(rows.name)) FROM rows JOIN rows AS other USING (value);
VACUUM;
SQL
}
one "$1/first" "$2" & one "$1/second" "$2" & wait
rm -r "$1"
