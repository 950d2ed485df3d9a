# tailback trace passes signals on to the command: twice for it to end, the third kills it; and then goes
# on to merge. No signal gets lost, whenever it comes.
set -euo pipefail
mpi=
for known in openmpi mpich; do
	[[ -e $(dirname "$TAILBACK")/tailback-trace-$known.so ]] && mpi=$known
done
[[ $mpi ]] || {
	echo "skipped: neither the tracer of Open MPI nor that of MPICH is built"
	exit 77
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
cat >stubborn <<'END'
#!/bin/bash
trap 'echo asked >>asked' TERM
echo $$ >pid.new
mv pid.new pid
while :; do
	sleep 0.05
done
END
chmod +x stubborn

# wait_until COMMAND...: polls for it; a hundred seconds are more than any machine takes.
wait_until() {
	for ((i = 0; i < 2000; i++)); do
		"$@" && return
		sleep 0.05
	done
	echo "in vain: $*"
	exit 1
}
n_asked() {
	[[ -e asked ]] && (($(wc -l <asked) >= $1))
}

"$TAILBACK" trace --mpi "$mpi" -o job.tbt -- ./stubborn 2>said &
traced=$!
wait_until test -e pid
kill -TERM $traced
wait_until n_asked 1
kill -TERM $traced
wait_until n_asked 2
kill -0 "$(<pid)" # it did not end
kill -TERM $traced
code=0
wait $traced || code=$?
[[ $code == 137 ]] || {
	echo "exit code $code: expected that of a command that was killed"
	exit 1
}
grep -q 'ended with code 137 before it called anything that is traced' said || {
	cat said
	exit 1
}
[[ -z $(find . -name '*.ranks-*') ]] # nothing is left of its folder

# Who ignored the ends of its children before: this program learns of them all the same.
timeout 100 env --ignore-signal=CHLD "$TAILBACK" trace --mpi "$mpi" -o job.tbt -- sleep 0.5 2>said || code=$?
[[ $code != 124 ]]
grep -q 'no process came through MPI_Init' said
