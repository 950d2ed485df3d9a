# Counting instructions, for instructions.sh and growth.sh; they set $work.
here=$(dirname "${BASH_SOURCE[0]}")
export TB_BENCH_BIN=${TB_BENCH_BIN:-$here/../../build/test/tests}
build=${TB_BUILD:-$TB_BENCH_BIN/..}
export TAILBACK=${TAILBACK:-$build/tailback}

skip() {
	echo "skipped: $*"
	exit 77
}

# cached KEY: its value in the build's CMakeCache.txt.
cached() { sed -n "s/^$1:[A-Z]*=//p" "$build/CMakeCache.txt"; }

# compiler: its name, version and flags.
compiler() {
	local program name=gcc
	program=$(cached CMAKE_C_COMPILER)
	! "$program" --version | grep -q clang || name=clang
	printf '%s %s %s' "$name" \
		"$("$program" -dumpfullversion 2>/dev/null || "$program" -dumpversion)" \
		"$(cached CMAKE_C_FLAGS_RELEASE)"
}

# traced OPTION... COMMAND...: runs a command under callgrind; its own output goes to $work/out.
traced() {
	rm -f "$work"/log.*
	valgrind --tool=callgrind --callgrind-out-file=/dev/null --log-file="$work/log.%p" "$@" >"$work/out" || {
		cat "$work"/log.* >&2
		return 1
	}
}

# collected FIELD...: prints the sum of these fields (of instructions the first) over what was traced.
collected() {
	awk -v fields="$*" '/ Collected : / { for (i = split(fields, of); i > 0; i--) sum += $(3 + of[i]) }
		END { printf "%.0f\n", sum }' "$work"/log.*
}

# count COMMAND...: prints how many instructions it executes.
count() {
	traced "$@" && collected 1
}

# A whole run is written at its end, as that of a shard: how often one is committed on its way the clock decides.
whole=(--shard 1/1 --jobs 1 --threads 1)

# packets: of all runs of $work/run.db.
packets() { sqlite3 "$work/run.db" 'SELECT sum(n_packets) FROM run'; }

# replay_uniform NETWORK NODES SIZE MESSAGES [OPTION...]: prints the instructions of a whole replay of random
# messages, so many a node, with all that is recorded by default; it leaves $work/run.db.
replay_uniform() {
	local network=$1 nodes=$2 size=$3 messages=$4
	shift 4
	"$TAILBACK" synth uniform --nodes "$nodes" --message "$size" --messages "$messages" -o "$work/job.goal"
	rm -f "$work/run.db"
	count "$TAILBACK" replay -q "${whole[@]}" "$work/job.goal" -n "$network" "$@" -o "$work/run.db"
}

[[ -z $(cached TB_SANITIZE) && $(cached CMAKE_BUILD_TYPE) == Release ]] ||
	skip "instructions are counted in the optimized build without sanitizers"
command -v valgrind >/dev/null || skip "valgrind is not installed"
command -v sqlite3 >/dev/null || skip "sqlite3 is not installed"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
