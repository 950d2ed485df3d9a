# A sweep: the same rows for any number of workers, after kill -9, after Ctrl-C, and when values
# are added.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'echo "line $LINENO: $BASH_COMMAND"; cat said' ERR
cd "$work"
. "$TB_SOURCE/tests/support/stores.sh"

cat >sweep.ini <<'INI'
[sweep]
experiment = uniform, shuffle
nodes = 16
message = 64K
load = 0.2..1 step 0.2
warm = 1ms
window = 3ms
seed = 1..3
[network]
vcs = 2
[plot]
x = offered
INI

done_points()
{
	store_count "$1" 'sweep WHERE done'
}

"$TAILBACK" sweep sweep.ini -q --jobs 1 -o one.db
[[ $(done_points one.db) == 30 ]]
"$TAILBACK" sweep sweep.ini -q --jobs 7 -o seven.db
expect_same_rows one.db seven.db "the number of workers shows"

# Killed again and again, it comes to its end, with the same rows.
for kill in 1 2 3; do
	"$TAILBACK" sweep sweep.ini -q --jobs 2 -o killed.db &
	pid=$!
	for ((i = 0; i < 200; i++)); do
		(($(done_points killed.db) < 7 * kill)) || break
		kill -0 $pid 2>/dev/null || break
		sleep 0.02
	done
	kill -9 $pid 2>/dev/null || true
	wait $pid 2>/dev/null || true
done
"$TAILBACK" sweep sweep.ini --jobs 2 -o killed.db 2>said
grep -q '30 points in killed.db' said
expect_same_rows one.db killed.db "a kill shows"

# Done is done.
"$TAILBACK" sweep sweep.ini -o killed.db 2>said
grep -q '30 were done before, 0 run' said

# A point that was planned and never ran runs alone.
cp one.db hole.db
for table in $(sqlite3 hole.db "SELECT m.name FROM sqlite_master AS m JOIN pragma_table_info(m.name) AS c
	WHERE m.type = 'table' AND c.name = 'run' AND m.name NOT LIKE 'sweep_p%' AND m.name <> 'sweep_value'"); do
	sqlite3 hole.db "DELETE FROM $table WHERE run = 5"
done
"$TAILBACK" sweep sweep.ini -o hole.db 2>said
grep -q '29 were done before, 1 run' said
expect_same_rows one.db hole.db "a point that ran later shows"

# Ctrl-C keeps what is done, says so, and the same command goes on.
stop_midway INT stopped.db sweep "$TAILBACK" sweep sweep.ini --set window=100ms --jobs 2 -o stopped.db 2>said
[[ $code == 1 ]] || { echo "a stopped sweep exits with $code"; exit 1; }
grep -q 'stopped early: [0-9]* of 30 points are in stopped.db' said
[[ $(sqlite3 stopped.db 'PRAGMA integrity_check') == ok ]]
[[ $(sqlite3 stopped.db 'SELECT count(*) FROM run WHERE NOT complete') == 0 ]]

# A file with more values runs those alone; a replay into the store takes no point's number.
"$TAILBACK" sweep sweep.ini -q --set seed=1 -o more.db
"$TAILBACK" synth uniform --nodes 8 --message 4K --messages 2 -o job.goal
"$TAILBACK" replay job.goal -q -o more.db
"$TAILBACK" sweep sweep.ini -o more.db 2>said
grep -q '10 were done before, 20 run' said
[[ $(sqlite3 more.db 'SELECT group_concat(run) FROM (SELECT run FROM run ORDER BY run)') == \
	$(seq -s, 31) ]]

# A point is a run as any other, with its own seed and its own figures.
[[ $(sqlite3 one.db "SELECT count(*) FROM run JOIN sweep_value USING (run)
	WHERE axis = 'seed' AND seed = value AND n_packets > 100 * n_messages") == 30 ]]
[[ $(sqlite3 one.db "SELECT count(DISTINCT n_packets) FROM run WHERE run <= 3") == 3 ]]
"$TAILBACK" matrix one.db --run 5 >/dev/null
"$TAILBACK" report one.db --run 5 -f json >report.json
grep -q '"kind": "experiment"' report.json
"$TAILBACK" info one.db --run 5 | grep -q experiment
"$TAILBACK" info one.db >info.txt
grep -qx 'Sweep of 30 points, 30 of them done' info.txt
"$TAILBACK" info --json one.db >info.json
grep -q '"points_done": 30' info.json

# One that has just begun has points, but no run yet.
"$TAILBACK" sweep sweep.ini -q --set window=100s --jobs 1 -o begun.db 2>/dev/null &
pid=$!
until [[ $(store_count begun.db sweep_point) == 30 ]]; do
	kill -0 $pid
	sleep 0.02
done
"$TAILBACK" info begun.db >info.txt
kill -9 $pid
wait $pid 2>/dev/null || true
printf 'begun.db: store of 0 runs\nSweep of 30 points, 0 of them done\n' | cmp - info.txt
[[ $("$TAILBACK" info --json begun.db | tr -d ' \n') == '{"kind":"store","points":30,"points_done":0,"runs":[]}' ]]
