#!/bin/bash
# Exchanges of long messages over TCP take once or twice their time, as ranks come to them together or
# not: the range of a trace's replay holds both, and the recorded time stands beside.
set -euo pipefail
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cases=$TB_SHARED/data/cases
if [[ ! -d $cases ]]; then
	echo "skipped: $cases is not here, with traces that came out wrong"
	exit 77
fi
. "$TB_SOURCE/tests/support/real_input.sh"
# hold TRACE RECORDED: as the trace has it, in seconds.
hold() {
	there "cases/trace-two-modes/$1.tbt" || return 0
	"$TAILBACK" replay "$cases/trace-two-modes/$1.tbt" -n ethernet-shaped,rate=20Mbit/s -o "$scratch/$1.db" 2> "$scratch/said"
	[[ $(sqlite3 "$scratch/$1.db" "SELECT $2 * 1e12 BETWEEN least_ps AND most_ps AND simulated_ps BETWEEN least_ps AND most_ps
		FROM run JOIN run_range USING (run)") == 1 ]] || {
		cat "$scratch/said"
		echo "$1: $2 s is not in the range"
		exit 1
	}
	head -n 1 "$scratch/said" | grep -q 'one after the other' || { echo "the first line does not say so: $(cat "$scratch/said")"; exit 1; }
	grep -q '^recorded: .*, in the replay ' "$scratch/said" || { echo "nothing on the recorded time: $(cat "$scratch/said")"; exit 1; }
	"$TAILBACK" replay "$cases/trace-two-modes/$1.tbt" --no-range -n ethernet-shaped,rate=20Mbit/s -o "$scratch/no.db" 2> "$scratch/said"
	! grep -q '^it takes' "$scratch/said" || { echo "--no-range has a range"; exit 1; }
}
hold sr131072_20m 0.866
hold ar_20m 2.681
