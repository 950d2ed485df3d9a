# Whatever a program does when it is killed (kill -9), soon no process of it and no temporary folder is
# left. The moments are random: KILLS=N tries each command N times, SEED=N chooses others.
set -u
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
mkdir run tmp
export TMPDIR=$scratch/tmp SDL_VIDEODRIVER=dummy HOME=$scratch
SEED=${SEED:-$$}
RANDOM=$SEED
failed=0
n_folders=0

cd run || exit 1
"$TAILBACK" synth bit-reversal --nodes 64 --message 64K --messages 8 -o job.goal
"$TAILBACK" replay -q job.goal -n qsnet,ascent=deterministic -o run.db || exit 1
"$TAILBACK" synth uniform --nodes 64 --message 256K --messages 200 -o long.goal
tar -czf job.tgz long.goal
printf 'key Return\nawait what never comes\n' >opens
printf 'key F9\nkey P\nawait what never comes\n' >proves
cat >mpirun.sh <<'SH'
trap 'kill $!; exit' TERM
sleep 600 & wait
SH

cd ..

# left: the processes that run in run/, guards of folders too: whatever the program starts stands there.
left() {
	local pid
	for pid in $(find /proc -maxdepth 2 -name cwd -lname "$scratch/run" 2>/dev/null | cut -d / -f 3); do
		ps -o pid=,stat=,args= -p "$pid" | grep -v '^ *[0-9]* Z'
	done
}

# killed MS COMMAND...: ends the command at a random moment of its first MS milliseconds.
killed() {
	local most=$1 i at pid
	shift
	for ((i = 0; i < ${KILLS:-2}; i++)); do
		at=$((RANDOM % most))
		(cd run && exec "$@" >/dev/null 2>&1 </dev/null) &
		pid=$!
		sleep "$(printf '%d.%03d' $((at / 1000)) $((at % 1000)))"
		[[ -n $(ls tmp) ]] && n_folders=$((n_folders + 1))
		kill -KILL "$pid" 2>/dev/null
		wait "$pid" 2>/dev/null
		for _ in $(seq 300); do
			[[ -z $(left) && -z $(ls tmp) ]] && break
			sleep 0.1
		done
		[[ -z $(left) && -z $(ls tmp) ]] || {
			echo "tailback ${*:2} killed after $at ms (SEED=$SEED) leaves:"
			left
			ls tmp
			left | while read -r pid _; do kill -KILL "$pid"; done
			rm -rf tmp/*
			failed=1
		}
	done
}

killed 500 "$TAILBACK" info job.tgz
killed 900 "$TAILBACK" replay -q job.tgz -n qsnet -o new.db
killed 900 "$TAILBACK" replay -q long.goal -n qsnet --watch -o watched.db
killed 900 "$TAILBACK" replay -q long.goal --seed 1..4 -n qsnet -o seeds.db
killed 2000 "$TAILBACK" advise -q run.db
killed 2000 "$TAILBACK" report --try run.db
killed 900 "$TAILBACK" timeline run.db --from 100us --to 200us --closer -o closer.json
killed 900 "$TAILBACK" validate --model mpi
killed 900 "$TAILBACK" sweep -q "$TB_SOURCE/schemas/sweeps/000-figure-13.ini" -o sweep.db
killed 500 "$TAILBACK" compare run.db run.db
killed 500 "$TAILBACK" network -n qsnet -o network.svg
killed 1500 "$TAILBACK" view long.goal --script opens
killed 2500 "$TAILBACK" view run.db --script proves
[[ ! -e $(dirname "$TAILBACK")/tailback-trace-any.so ]] ||
	killed 500 "$TAILBACK" trace -o job.tbt --mpi mpich -- sh mpirun.sh
((n_folders >= 5)) || { echo "of all these only $n_folders had a folder when they were killed"; failed=1; }
exit $failed
