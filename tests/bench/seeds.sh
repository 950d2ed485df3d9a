#!/usr/bin/env bash
# What the seed alone moves, by the way packets choose their links: bundled and synthetic jobs on the
# presets, each with several seeds; the change in percent between any two runs that differ by their
# seed, of those jobs and networks of which the seed moves the figure at all. From these figures stem
# the limits below which 'tailback compare' passes no verdict on one run each
# (analyze/compare/seed_moves.h).
#   seeds.sh          20 seeds
#   seeds.sh --smoke  the test: one job with three seeds
#   seeds.sh --each   20 seeds, and a row for each job and network
set -euo pipefail

skip() {
	echo "skipped: $*"
	exit 77
}

command -v sqlite3 >/dev/null || skip "sqlite3 is not installed"
tailback=${TAILBACK:-$TB_BENCH_BIN/../tailback}
data=${TB_SOURCE:-$(dirname "${BASH_SOURCE[0]}")/../..}/tests/data
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"

seeds=20 each=false
networks=(qsnet",ascent="{adaptive,random} "qsnet2,ascent=adaptive"
	ib-{hdr,ndr,xdr}",ascent="{adaptive,random} roce-{100,400}",ascent=ecmp")
jobs=("$data/bit_reversal_64.goal" "$data/binary_tree_32.goal" "$data/ring8" uniform.goal
	alltoall.goal allreduce.goal hot-spot.goal neighbour.goal)
case ${1:-} in
--smoke) seeds=3 networks=("qsnet,ascent=adaptive") jobs=("$data/bit_reversal_64.goal") ;;
--each) each=true ;;
esac

# Destinations by the job's own seed, which all its runs share.
"$tailback" synth uniform --nodes 64 --message 32K --messages 8 -o uniform.goal
"$tailback" synth hot-spot --nodes 64 --message 8K --messages 4 -o hot-spot.goal
"$tailback" synth neighbour --nodes 64 --message 64K --messages 8 -o neighbour.goal
"$tailback" synth alltoall --nodes 64 --size 8K -o alltoall.goal
"$tailback" synth allreduce --nodes 64 --size 1M -o allreduce.goal

figures() {
	sqlite3 -separator ' ' "$1" "SELECT simulated_ps,
		(SELECT sum(latency_ps) * 1.0 / sum(messages) FROM flow WHERE flow.run = run.run),
		(SELECT sum(came_by_ps) FROM link_total WHERE link_total.run = run.run) FROM run"
}

# pairs JOB NETWORK ASCENT: a line per two seeds and figure: its name, JOB, NETWORK, percent, ASCENT.
pairs() {
	awk -v job="$1" -v network="$2" -v ascent="$3" '
		{
			for (i = 1; i <= 3; i++) {
				value[NR, i] = $i
				moves[i] = moves[i] || $i != value[1, i]
			}
		}
		END {
			split("run_time latency wait", name, " ")
			for (i = 1; i <= 3; i++)
				for (a = 1; a <= NR; a++)
					for (b = 1; b <= NR; b++)
						if (moves[i] && a != b && value[a, i] > 0) {
							moved = value[b, i] / value[a, i] - 1
							printf "%s %s %s %.6f %s\n", name[i], job, network,
								100 * (moved < 0 ? -moved : moved), ascent
						}
		}'
}

# share WHICH COLUMN...: the median and 95th percentile of the lines, by figure and columns.
share() {
	sort -g -k4 | awk -v columns="$1" '
		{
			n = split(columns, at, ",")
			key = $1
			for (i = 1; i <= n; i++)
				key = key "_" $at[i]
			change[key, count[key]++] = $4
		}
		END {
			for (key in count) {
				printf "%s_median,%.2f,%%\n", key, change[key, int(count[key] * 0.5)]
				printf "%s_p95,%.2f,%%\n", key, change[key, int(count[key] * 0.95)]
			}
		}' | sort
}

for job in "${jobs[@]}"; do
	for network in "${networks[@]}"; do
		"$tailback" replay "$job" -n "$network" --seed "1..$seeds" --jobs=1 -q -o run.db
		name=$(basename "$job" .goal)
		figures run.db | pairs "$name" "${network%%,*}" "${network##*=}" >>changes
		rm run.db
	done
done
share 5 <changes
! $each || share 5,3,2 <changes
