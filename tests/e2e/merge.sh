# Shards of a sweep and of replays, merged, are the store of one machine: the same rows, and byte for
# byte the same file once both are written anew. What does not belong together is refused, and a kill
# leaves nothing under the final name.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'echo "line $LINENO: $BASH_COMMAND"; cat said 2>/dev/null' ERR
cd "$work"
. "$TB_SOURCE/tests/support/stores.sh"
tailback() { "$TAILBACK" "$@"; }

cat >sweep.ini <<'INI'
[sweep]
experiment = uniform, shuffle
nodes = 16
message = 64K
load = 0.2..1 step 0.4
warm = 1ms
window = 2ms
seed = 1..3
[network]
vcs = 2
[plot]
x = offered
INI

# expect_same A B: the same rows, and the same bytes without run_environment.
expect_same()
{
	local store
	expect_same_rows "$1" "$2"
	for store in "$1" "$2"; do
		rm -f bare.db "anew-$store"
		cp "$store" bare.db
		sqlite3 bare.db "DELETE FROM run_environment; VACUUM INTO 'anew-$store'"
	done
	cmp "anew-$1" "anew-$2" || { echo "the bytes of $1 and $2 differ"; exit 1; }
}

# refused SENTENCE COMMAND...: fails with that sentence and makes no new.db.
refused()
{
	local sentence=$1 code=0
	shift
	"$@" 2>said || code=$?
	[[ $code == 1 || $code == 2 ]] || { echo "exit $code: $*"; exit 1; }
	[[ $(wc -l <said) == 1 ]] && grep -q -- "$sentence" said || { echo "$*"; cat said; exit 1; }
	[[ -z $(ls new.db* 2>/dev/null) ]] || { ls new.db*; exit 1; }
}

tailback sweep sweep.ini -q --jobs 2 -o one.db
for k in 1 2 3 4; do
	tailback sweep sweep.ini --shard $k/4 -o s$k.db 2>said
	grep -q "[45] points in s$k.db (shard $k/4): [45] run" said
done
[[ $(sqlite3 s2.db 'SELECT shard, n_shards, n_runs FROM shard') == '2|4|5' ]]
[[ $(sqlite3 s2.db 'SELECT count(*), sum(done) FROM sweep') == '18|5' ]]
tailback sweep merge s3.db s1.db s4.db s2.db -o all.db 2>said
grep -qx '18 runs of 4 shards in all.db' said
expect_same one.db all.db
[[ $(sqlite3 all.db 'SELECT count(*), count(wall_s) FROM run_environment') == '18|18' ]]
tailback sweep merge -q s1.db s2.db s3.db s4.db -o order.db
cmp all.db order.db || { echo "the order of the shards shows"; exit 1; }
tailback sweep plot all.db >/dev/null

# One shard is a whole, and there may be more shards than points.
tailback sweep sweep.ini -q --shard 1/1 -o only.db
tailback sweep merge -q only.db -o of_one.db
expect_same one.db of_one.db
for k in 1 2 3; do
	tailback sweep uniform --set nodes=16 --set warm=1ms --set window=2ms --set seed=1,2 -q --shard $k/3 -o few$k.db
done
tailback sweep merge few?.db -o few.db 2>said
grep -qx '2 runs of 3 shards in few.db' said
[[ $(sqlite3 few.db 'SELECT sum(done) FROM sweep') == 2 ]]

# A shard that was killed resumes; another one does not go into its store.
for window in 10ms 50ms 250ms 1250ms; do
	long=(sweep.ini --set "window=$window" --set seed=1)
	rm -f killed.db
	stop_midway KILL killed.db run "$TAILBACK" sweep "${long[@]}" -q --jobs 1 --shard 2/2 -o killed.db
	[[ $(store_count killed.db 'sweep WHERE done') == 3 ]] || break
done
tailback sweep "${long[@]}" -q -o long.db
tailback sweep "${long[@]}" -q --shard 1/2 -o long1.db
refused 'killed.db: is not finished: [12] of the 3 runs of shard 2/2 are done' \
	tailback sweep merge long1.db killed.db -o new.db
refused 'killed.db: is the store of shard 2/2: each shard has a store of its own' \
	tailback sweep "${long[@]}" --shard 1/2 -o killed.db
refused 'killed.db: is the store of shard 2/2 of something else' \
	tailback sweep sweep.ini --shard 2/2 -o killed.db
refused 'one.db: has runs of something else: a shard has a store of its own' \
	tailback sweep sweep.ini --shard 3/4 -o one.db
tailback sweep "${long[@]}" --shard 2/2 -o killed.db 2>said
grep -q '[12] were done before, [12] run' said
tailback sweep merge -q long1.db killed.db -o resumed.db
expect_same long.db resumed.db

# What is not the whole is merged only when that is asked for; the sweep then resumes in it.
refused 'of 4 shards 1 is missing: 3; merge what there is with --partial' \
	tailback sweep merge s1.db s2.db s4.db -o new.db
refused 'of 4 shards 3 are missing: 1, 2, 4; ' tailback sweep merge s3.db -o new.db
tailback sweep merge --partial s1.db s2.db s4.db -o part.db 2>said
grep -qx '14 runs of 3 of 4 shards in part.db' said
tailback sweep sweep.ini -o part.db 2>said
grep -q '14 were done before, 4 run' said
expect_same one.db part.db
cp s3.db into_whole.db
tailback sweep sweep.ini -q -o into_whole.db 2>said
grep -q 'warning: into_whole.db is shard 3/4: without --shard it gets all points' said
tailback sweep sweep.ini -q -o into_whole.db 2>said
[[ ! -s said ]]
expect_same one.db into_whole.db

# What does not belong together.
cp s2.db copy.db
refused 's2.db: is shard 2/4, as copy.db is: give each shard once' \
	tailback sweep merge s1.db copy.db s2.db s3.db s4.db -o new.db
refused 'one.db: is no shard: expected a store that was written with --shard' \
	tailback sweep merge s1.db one.db -o new.db
refused 'all.db: is there already: merge into a new store' tailback sweep merge s?.db -o all.db
refused 's1.db: is there already: merge into a new store' tailback sweep merge s?.db -o s1.db
refused 'absent.db: cannot be opened' tailback sweep merge s1.db absent.db -o new.db
refused 'sweep.ini: is no Tailback store' tailback sweep merge s1.db sweep.ini -o new.db
for other in '--set seed=1..2' '--set vcs=1' '--blame' '--set x=1'; do
	case $other in
	*x=1) sed 's/x = offered/x = load/' sweep.ini >other.ini; other='' ;;
	*) cp sweep.ini other.ini ;;
	esac
	rm -f other.db
	# shellcheck disable=SC2086 # an option and its value
	tailback sweep other.ini $other -q --shard 2/4 -o other.db
	refused 'other.db: is a shard of something else than s1.db' \
		tailback sweep merge s1.db other.db s3.db s4.db -o new.db
done
tailback sweep sweep.ini -q --shard 1/7 -o seventh.db
refused 'seventh.db: is one of 7 shards, but s1.db is one of 4' \
	tailback sweep merge s1.db seventh.db -o new.db
cp s2.db more.db
tailback synth uniform --nodes 8 --message 4K --messages 2 -o job.goal
for many in '' '-s 1,2'; do
	# shellcheck disable=SC2086 # an option and its value
	refused 'more.db: is the store of shard 2/4: other runs go into another store' \
		tailback replay job.goal $many -q -o more.db
done
cmp s2.db more.db
sqlite3 more.db "CREATE TEMP TABLE added AS SELECT * FROM run LIMIT 1; UPDATE added SET run = 19;
	INSERT INTO run SELECT * FROM added"
refused 'more.db: has 6 runs, but its shard 2/4 has 5: others were added' \
	tailback sweep merge s1.db more.db s3.db s4.db -o new.db

# Damage: cut off, a page overwritten, a point changed in one of its two places, a run that two shards have.
head -c 200000 s2.db >cut.db
refused 'cut.db: is damaged' tailback sweep merge s1.db cut.db s3.db s4.db -o new.db
cp s2.db torn.db
dd if=/dev/urandom of=torn.db bs=8192 seek=20 count=1 conv=notrunc 2>/dev/null
refused 'torn.db: is damaged' tailback sweep merge s1.db torn.db s3.db s4.db -o new.db
for ((k = 1; k < 40; k++)); do # it is written in the table, in its index, and in the run's options
	perl -0777 -pe "my \$n = 0; s/experiment=shuffle nodes=16/++\$n == $k ? 'experiment=shuffle nodes=61' : \$&/ge" \
		s2.db >rotten.db
	[[ $(sqlite3 rotten.db 'PRAGMA integrity_check(1)') == ok ]] || break
done
[[ $(sqlite3 rotten.db 'SELECT count(*) FROM run') == 5 ]] # reading alone does not show it
refused 'rotten.db: is damaged: row [0-9]* missing from index' tailback sweep merge s1.db rotten.db s3.db s4.db -o new.db
cp s2.db twin.db
sqlite3 twin.db "UPDATE run SET run = (SELECT min(run) FROM sweep_point WHERE run NOT IN (SELECT run FROM run))
	WHERE run = (SELECT max(run) FROM run)"
refused 'is damaged: run [0-9]* is in [a-z0-9]*.db, too' tailback sweep merge s1.db twin.db s3.db s4.db -o new.db
cp s2.db stray.db
sqlite3 stray.db "UPDATE run SET run = 77 WHERE run = (SELECT max(run) FROM run)"
refused 'stray.db: is damaged: run 77 is no point of the sweep' tailback sweep merge s1.db stray.db s3.db s4.db -o new.db

# A shard that is being written, and a merge that is killed.
exec 8<s4.db
flock 8
refused 's4.db: another replay is writing into it' tailback sweep merge s?.db -o new.db
exec 8<&-
tailback sweep sweep.ini -q --set window=5ms --set seed=1 --blame --shard 1/1 -o large.db
"$TAILBACK" merge large.db -o killed_merge.db &
pid=$!
until [[ $(readlink /proc/$pid/fd/* 2>/dev/null) == *' (deleted)'* ]]; do # the unnamed file
	kill -0 $pid 2>/dev/null || break
done
kill -9 $pid 2>/dev/null || true
wait $pid 2>/dev/null || true
[[ -z $(compgen -G 'killed_merge.db.*') ]] || { ls; exit 1; }
if [[ -e killed_merge.db ]]; then # it had come to its end
	[[ $(sqlite3 killed_merge.db 'PRAGMA integrity_check') == ok ]]
	[[ $(sqlite3 killed_merge.db 'SELECT count(*) FROM run') == 6 ]]
fi
rm -f killed_merge.db*
tailback sweep merge -q large.db -o killed_merge.db

# Replays of many: the same runs with the same numbers; what is done is not done again.
tailback synth uniform --nodes 16 --message 16K --messages 5 -o a.goal
tailback synth shuffle --nodes 16 --message 16K --messages 5 -o b.goal
zstd -dqc "$TB_SOURCE/tests/data/alltoall16.pcap.zst" >c.pcap
tailback replay a.goal b.goal c.pcap --each -s 1..3 -q -o replays.db
for k in 1 2 3 4; do
	tailback replay a.goal b.goal c.pcap --each -s 1..3 --shard $k/4 -o r$k.db 2>said
	grep -qE "^[23] runs in r$k.db \(shard $k/4\)$" said
done
[[ $(sqlite3 r2.db 'SELECT group_concat(run) FROM (SELECT run FROM run ORDER BY run)') == 2,6 ]]
tailback sweep merge r?.db -o r.db 2>said
grep -qx '9 runs of 4 shards in r.db' said
expect_same replays.db r.db
tailback replay a.goal b.goal c.pcap --each -s 1..3 --shard 2/4 -o r2.db 2>said
grep -qx '2 runs in r2.db (shard 2/4): 2 were recorded before' said
refused 'r2.db: is the store of shard 2/4 of something else' \
	tailback replay a.goal b.goal --each -s 1..3 --shard 2/4 -o r2.db
cp r2.db stray.db
sqlite3 stray.db 'UPDATE run SET run = 7 WHERE run = 6'
refused 'stray.db: is damaged: run 7 is none of its shard' tailback sweep merge r1.db stray.db r3.db r4.db -o new.db
refused 'r1.db: is a shard of something else than s1.db' tailback sweep merge s1.db r1.db -o new.db

# The same name, but another file.
cp b.goal kept.goal
tailback synth complement --nodes 16 --message 16K --messages 5 -o b.goal
rm r2.db
tailback replay a.goal b.goal c.pcap --each -s 1..3 --shard 2/4 -q -o r2.db
refused 'b.goal: was not the same file for all shards' tailback sweep merge r?.db -o new.db
mv kept.goal b.goal

# A bad trace fails its shard alone, and Ctrl-C keeps whole runs only.
echo 'rank 0 {' >bad.goal
tailback replay a.goal bad.goal --each --shard 1/2 -q -o bad1.db
refused 'bad.goal' tailback replay a.goal bad.goal --each --shard 2/2 -q -o bad2.db
refused 'bad2.db: is not finished: 0 of the 1 runs' tailback sweep merge bad1.db bad2.db -o new.db
for messages in 6 30 150; do
	tailback synth uniform --nodes 64 --message 1M --messages $messages -o long.goal
	rm -f stopped.db
	stop_midway INT stopped.db run "$TAILBACK" replay long.goal -s 1..8 --jobs 2 --shard 1/2 -q -o stopped.db 2>said
	[[ $code == 0 ]] || break
done
[[ $code == 1 ]]
grep -q 'stopped early: [0-3] of 4 runs are in stopped.db, the same command resumes there' said
[[ $(sqlite3 stopped.db 'SELECT count(*) FROM run WHERE NOT complete') == 0 ]]
