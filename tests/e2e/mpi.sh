# Sweeps over MPI: the store of one machine; a worker that is killed in the middle of a point has it
# done by others; a job that is killed as a whole resumes.
set -euo pipefail
command -v mpirun >/dev/null && [[ $(mpirun --version) == *'Open MPI'* ]] || {
	echo "skipped: no mpirun of Open MPI (Debian: openmpi-bin)"
	exit 77
}
[[ -e $(dirname "$TAILBACK")/tailback-mpi.so ]] || {
	echo "skipped: built without Open MPI (Debian: libopenmpi-dev)"
	exit 77
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'echo "line $LINENO: $BASH_COMMAND"; cat said' ERR
cd "$work"
. "$TB_SOURCE/tests/support/stores.sh"
. "$TB_SOURCE/tests/support/mpi.sh"
use_mpi "$work"
export ASAN_OPTIONS=detect_leaks=0 # of MPI itself
run=(timeout -k 5 900 mpirun --oversubscribe)

cat >sweep.ini <<'INI'
[sweep]
experiment = uniform, shuffle
nodes = 64
message = 64K
load = 0.5, 1
warm = 1ms
window = 6ms
seed = 1..2
[plot]
x = offered
INI

done_points()
{
	store_count "$1" 'sweep WHERE done'
}

# rank R: the process of rank R below the job `pid`.
rank()
{
	local process
	for process in $(pgrep -P "$(pgrep -P "$pid")"); do
		grep -qz "^OMPI_COMM_WORLD_RANK=$1\$" "/proc/$process/environ" && echo "$process"
	done
	return 0
}
# begin OPTION...: a sweep of four ranks into killed.db, until it has a point done.
begin()
{
	rm -f killed.db
	"${run[@]}" "$@" -n 4 "$TAILBACK" sweep sweep.ini -o killed.db 2>said &
	pid=$!
	until (($(done_points killed.db) >= 1)) || ! kill -0 $pid; do
		sleep 0.02
	done
}
# strike SIGNAL PROCESS: on a busy machine all may be over before the signal comes.
strike()
{
	kill -"$1" "$2" || echo "over before SIG$1"
}
# ended CODE...: mpirun ends so, or with success when all points were done before the signal.
ended()
{
	local code=0
	wait $pid || code=$?
	[[ " $* " == *" $code "* ]] || [[ $code == 0 && $(done_points killed.db) == 8 ]] || {
		echo "exit $code"
		cat said
		exit 1
	}
}

"$TAILBACK" sweep sweep.ini -q -o one.db
"${run[@]}" -n 3 "$TAILBACK" sweep sweep.ini -o three.db 2>said
[[ $(grep -c '^8 points in three.db: 8 run' said) == 1 ]]
expect_same_rows one.db three.db
"${run[@]}" -n 2 "$TAILBACK" sweep sweep.ini --blame --set seed=1 --shard 1/2 -q -o blame1.db
"$TAILBACK" sweep sweep.ini --blame --set seed=1 --shard 2/2 -q -o blame2.db
"$TAILBACK" sweep sweep.ini --blame --set seed=1 -q -o blame.db
"$TAILBACK" merge -q blame1.db blame2.db -o merged.db
expect_same_rows blame.db merged.db

# A worker is killed; the others do its point, and mpirun succeeds.
begin --enable-recovery
strike KILL "$(rank 2)"
ended 0
expect_same_rows one.db killed.db

# One that only stands still for a while goes on; its point may have been done twice by then.
begin --enable-recovery
still=$(rank 3)
strike STOP "$still"
sleep 12 # longer than the leader waits for a silent worker
strike CONT "$still"
ended 0
expect_same_rows one.db killed.db

# Without --enable-recovery, and when the leader is killed, mpirun ends the job; it resumes.
for victim in 1 0; do
	begin
	strike KILL "$(rank $victim)"
	ended {1..255}
	"${run[@]}" -n 3 "$TAILBACK" sweep sweep.ini -o killed.db 2>said
	grep -qE '[1-8] were done before, [0-7] run' said
	expect_same_rows one.db killed.db
done

# Ctrl-C keeps what is done. Now and then mpirun's own abort hangs on a busy machine: a user presses again,
# and again, and so do we. On such a machine, too, mpirun may have ended before it has passed on what the
# leader says, or all points were done before the signal.
begin
job=$(pgrep -P "$pid") || true
strike INT "$job"
for ((again = 0; again < 20; again++)); do
	sleep 1
	kill -0 $pid 2>/dev/null || break
	((again < 10)) || kill -INT "$job" || true
done
kill -0 $pid 2>/dev/null && kill -KILL "$job"
ended {1..255}
if (($(done_points killed.db) < 8)) && [[ -s said ]] && ! grep -q 'Abort is in progress' said; then
	[[ $(grep -c '^tailback: stopped early: [1-7] of 8 points are in killed.db' said) == 1 ]]
fi
(($(done_points killed.db) >= 1))
[[ $(sqlite3 killed.db 'PRAGMA integrity_check') == ok ]]

# What is wrong is said once, by the leader. When a rank fails, mpirun may end before it has passed on
# what the ranks say, so they say it into files of their own.
told=(bash -c 'exec "$@" 2>"said.$OMPI_COMM_WORLD_RANK"' rank "$TAILBACK" sweep)
refused()
{
	local wanted=$1 sentence=$2 code=0
	shift 2
	rm -f said.*
	"${run[@]}" "$@" 2>by_mpirun || code=$?
	cat said.* >said
	[[ $code == "$wanted" ]] && grep -q -- "$sentence" said || { echo "exit $code"; cat said; exit 1; }
}
refused_once()
{
	refused "$@"
	[[ $(grep -c '^tailback' said) == 1 ]] || { cat said; exit 1; }
}
refused_once 2 "'unifrom' is neither" -n 3 "${told[@]}" unifrom -o none.db
refused_once 1 'no/such/none.db: cannot be' -n 3 "${told[@]}" sweep.ini -o no/such/none.db
refused_once 2 'is another sweep for this rank than for rank 0.*(rank 1)' \
	-n 1 "${told[@]}" sweep.ini -o none.db : -n 1 "${told[@]}" sweep.ini --set seed=9 -o none.db
refused 2 'jobs is for one machine' -n 2 "${told[@]}" sweep.ini --jobs 2 -o none.db
