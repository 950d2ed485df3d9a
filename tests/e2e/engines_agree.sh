# Both engines give the same store, but for the row that says when it was made and the option that
# chose the engine: a job (closed loop) and a pattern, with bins of automatic and of fixed width.
set -u
command -v sqlite3 >/dev/null || {
	echo "skipped: no sqlite3"
	exit 77
}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failed=0

dump() {
	sqlite3 "$1" "UPDATE run SET options = replace(options, ' --engine flits', '')" .dump |
		grep -v 'INTO run_environment'
}

agree() {
	local engine
	for engine in events flits; do
		"$TAILBACK" replay -q --engine "$engine" "$@" -o "$scratch/$engine.db" || exit 1
		dump "$scratch/$engine.db" >"$scratch/$engine.sql"
		rm "$scratch/$engine.db"
	done
	if ! diff "$scratch/events.sql" "$scratch/flits.sql" >"$scratch/diff"; then
		echo "the engines differ on: $*"
		head -20 "$scratch/diff"
		failed=1
	fi
}

agree "$TB_SOURCE/tests/data/binary_tree_32.goal"
"$TAILBACK" synth uniform --nodes 16 --message 2K --messages 3 -o "$scratch/uniform.goal" || exit 1
agree "$scratch/uniform.goal" -n qsnet,levels=2 --seed 3
agree "$scratch/uniform.goal" -n qsnet,levels=2,ascent=deterministic,vcs=1,fifo=64 --bin 1us
"$TAILBACK" replay -q --engine fluid "$scratch/uniform.goal" -o "$scratch/run.db" 2>"$scratch/message"
if [[ $? != 2 ]] || ! grep -q -- '--engine=fluid: expected events or flits' "$scratch/message"; then
	echo "an engine that is not there is not refused"
	failed=1
fi
exit "$failed"
