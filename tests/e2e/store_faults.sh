# A store that cannot be written: one clear sentence, exit 1, nothing that looks whole, and what
# was stored before is still there.
set -u
scratch=$(mktemp -d)
chmod 755 "$scratch"
trap 'rm -rf "$scratch"' EXIT
# Copies, since who has no privileges may not even reach the source folder.
program=$scratch/tailback
trace=$scratch/bit_reversal_64.goal
cp "$TAILBACK" "$program"
cp "$TB_SOURCE/tests/data/bit_reversal_64.goal" "$trace"
failed=0

# expect CODE PATTERN COMMAND...: how the command ends and what it says on stderr.
expect() {
	local code=$1 pattern=$2 got=0
	shift 2
	"$@" >"$scratch/out" 2>"$scratch/err" || got=$?
	if [[ $got != "$code" ]] || ! grep -qE -- "$pattern" "$scratch/err" ||
		[[ $(wc -l <"$scratch/err") != 1 ]]; then
		echo "$*: exit $got, expected $code and '$pattern':"
		cat "$scratch/err"
		failed=1
	fi
}

# limited COMMAND...: with room for 100 KiB in a file.
limited() { (
	ulimit -f 100
	exec "$@"
); }

# unprivileged COMMAND...: as somebody whom a folder's mode keeps out.
unprivileged() {
	if [[ $(id -u) == 0 ]]; then
		setpriv --reuid=65534 --regid=65534 --clear-groups "$@"
	else
		"$@"
	fi
}

# small COMMAND...: in 400 MB of address space.
small() { (
	ulimit -v 400000
	exec "$@"
); }

# The disk is full, in an empty store and in one with a run.
expect 1 'full\.db: cannot be written' limited "$program" replay "$trace" -o "$scratch/full.db"
"$program" replay "$trace" -n qsnet --bin 1ms -o "$scratch/run.db" 2>/dev/null || failed=1
before=$("$program" report "$scratch/run.db" --run 1)
expect 1 'run\.db: cannot be written' limited "$program" replay "$trace" -o "$scratch/run.db"
[[ $("$program" report "$scratch/run.db" --run 1) == "$before" ]] || {
	echo "a full disk changed the run that was there"
	failed=1
}

# While one replay writes, from its first commit to its last, another is refused.
"$program" synth uniform --nodes 64 --message 64K --messages 2000 -o "$scratch/long.goal"
"$program" replay "$scratch/long.goal" -q -o "$scratch/live.db" 2>/dev/null &
first=$!
until [[ -s $scratch/live.db ]] || ! kill -0 $first; do sleep 0.05; done
expect 1 'live\.db: another replay is writing into it' "$program" replay "$trace" -q -o "$scratch/live.db"
sleep 1.2
expect 1 'live\.db: another replay is writing into it' "$program" replay "$trace" -q -o "$scratch/live.db"
kill -INT $first
wait $first
"$program" replay "$trace" -q -o "$scratch/live.db" || failed=1
"$program" info "$scratch/live.db" | grep -q 'store of 2 runs' || {
	echo "the second replay is not in the store"
	failed=1
}

# A network that has no room in memory: nothing is begun. Sanitizers take more address space.
if small "$program" --version >/dev/null 2>&1; then
	expect 1 'no memory for a network' small "$program" replay "$trace" -n qsnet,levels=8 -o "$scratch/none.db"
	[[ ! -e $scratch/none.db ]] || {
		echo "a replay that could not begin left a store"
		failed=1
	}
fi

# A folder and a file that must not be written.
mkdir "$scratch/closed"
cp "$scratch/run.db" "$scratch/closed/run.db"
chmod 444 "$scratch/closed/run.db"
chmod 555 "$scratch/closed"
if unprivileged true 2>/dev/null; then
	expect 1 'new\.db: cannot be opened: Permission denied' \
		unprivileged "$program" replay "$trace" -o "$scratch/closed/new.db"
	expect 1 'run\.db: .*read-only' unprivileged "$program" replay "$trace" -o "$scratch/closed/run.db"
	expect 0 '' unprivileged sh -c "'$program' report '$scratch/closed/run.db' && echo >&2"
fi
chmod 755 "$scratch/closed"

# A folder that is not there, a stranger's file, a store of a newer version.
expect 1 'nowhere/run\.db: cannot be opened: No such file' "$program" replay "$trace" -o "$scratch/nowhere/run.db"
echo precious >"$scratch/letter"
expect 1 'letter: is no Tailback store' "$program" replay "$trace" -o "$scratch/letter"
[[ $(cat "$scratch/letter") == precious ]] || {
	echo "the letter was touched"
	failed=1
}
exit "$failed"
