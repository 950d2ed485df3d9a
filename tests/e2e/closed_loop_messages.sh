#!/bin/bash
# What is inferred from real captures is judged against what the programs logged: messages by
# size, count and order, and which receives a send waits for. docs/closed-loop.md sums
# them up; the bounds here are a little below.
set -euo pipefail

if [[ ! -d $TB_SHARED/data/whatif ]]; then
	echo "skipped: $TB_SHARED/data/whatif is not here, with captures and what the programs called"
	exit 77
fi
if ! command -v zstd > /dev/null; then
	echo "skipped: zstd is not installed, and the logs are compressed"
	exit 77
fi
. "$TB_SOURCE/tests/support/real_input.sh"
status=0

# hold NAME PRECISION RECALL ORDER PRECISION RECALL: of messages, then of what sends wait for.
hold() {
	local row
	case $1 in
	*8_*) there "whatif/$1.pcap.zst" "whatif/mpilog/$1.tar.zst" || return 0 ;;
	*) there "captures/$1.pcap.zst" "jobs/$1.tar.zst" || return 0 ;;
	esac
	row=$("$TB_SOURCE/tests/support/judge_table.sh" "$TB_BENCH_BIN/infer_judge" "$TB_SHARED" "^$1\$")
	awk -F'[|(]' -v least="${*:2}" '{
		split(least, bound, " ")
		split($6 " " $7 " " $8 " " $9 " " $11, got, " ")
		for (i = 1; i <= 5; i++)
			if (got[i] < bound[i])
				bad = 1
	} END { exit NR != 1 || bad }' <<< "$row" || {
		echo "expected at least ${*:2} % in: $row"
		status=1
	}
}

hold ring8_10m 94 98 98 97 97
hold ring8_50m 94 98 98 97 97
hold ring8_200m 94 98 98 97 97
hold halo8_10m 97 98 98 70 54
hold halo8_50m 97 98 98 68 61
hold lammps8_10m 97 98 98 85 85
hold lammps8_50m 97 98 98 81 81
hold lammps8_100m 97 98 98 92 92
hold a2a8_50m 95 97 97 94 50
hold a2a8_200m 92 98 60 40 15
hold lmp16_melt_mtu 94 97 98 70 75
hold lmp64_melt_mtu 94.5 98 98 52 54
hold coll64_mtu 70 98 95 36 30
exit $status
