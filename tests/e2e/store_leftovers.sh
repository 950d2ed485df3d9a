# A store that is made where another was removed: the journal and the write-ahead log that SQLite left beside that one are
# no part of this one, which is equal to one made elsewhere.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'echo "line $LINENO: $BASH_COMMAND"; ls -l; cat said 2>/dev/null' ERR
cd "$work"
"$TAILBACK" synth bit-reversal --nodes 16 --message 16K --messages 2 -o job.goal
replay() { "$TAILBACK" replay job.goal -n qsnet,levels=2 -q -o "$1" 2>said; }
replay elsewhere.db
content() { sqlite3 "$1" .dump | grep -v 'INSERT INTO run_environment'; }
content elsewhere.db >elsewhere.sql

# leave: run.db is gone, what a program that changed it had written beside it is not.
leave() {
	cp elsewhere.db run.db
	python3 - "$1" <<'END'
import os, shutil, sqlite3, sys
db = sqlite3.connect("run.db", isolation_level=None)
if sys.argv[1] == "wal":
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("PRAGMA wal_autocheckpoint = 0")
    db.execute("VACUUM")
else:
    db.execute("PRAGMA cache_size = 1")
    db.execute("BEGIN IMMEDIATE")
    db.execute("UPDATE link_pack SET run = run + 7")
for end in "journal", "wal", "shm":
    if os.path.exists("run.db-" + end):
        shutil.copy("run.db-" + end, end)
db.close()
END
	rm -f run.db run.db-*
	for end in journal wal shm; do [[ ! -e $end ]] || mv "$end" "run.db-$end"; done
}

leave wal
[[ -s run.db-wal ]]
replay run.db
content run.db | cmp - elsewhere.sql
[[ ! -e run.db-wal && ! -e run.db-shm ]]

leave journal
[[ -s run.db-journal ]]
replay run.db
content run.db | cmp - elsewhere.sql
[[ ! -e run.db-journal ]]

# By a link, beside the file that it leads to.
leave wal
mkdir links
ln -s ../run.db links/run.db
replay links/run.db
content run.db | cmp - elsewhere.sql

# Of shards that are merged.
leave wal
for shard in 1/2 2/2; do
	"$TAILBACK" replay job.goal -n qsnet,levels=2 --seed 1,2 --shard $shard -q -o "${shard%/2}.db" 2>said
done
"$TAILBACK" merge 1.db 2.db -o run.db 2>said
[[ $(sqlite3 run.db 'SELECT count(*) FROM run') == 2 && ! -e run.db-wal ]]

# What cannot be removed is named, and no store is left.
rm -f run.db
mkdir run.db-wal
code=0
replay run.db || code=$?
[[ $code == 1 && ! -e run.db ]]
grep -q 'run.db: cannot be made: run.db-wal is left of another store of this name, and cannot be removed' said
