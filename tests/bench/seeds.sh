#!/usr/bin/env bash
# What the seed alone moves, by the way packets choose their links: bundled and synthetic jobs on the
# presets, each with several seeds; by which factor two runs that differ by their seed are apart in 95
# of 100 pairs, of nine in ten of the jobs and networks of which the seed moves the figure at all. A
# wait that changes by less than a quarter of the run counts as unchanged. From these figures stem the
# limits below which 'tailback compare' passes no verdict on one run each
# (analyze/compare/seed_moves.h). A last column has the share of false verdicts, each job judged by a
# limit that was made without it.
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

# pairs JOB NETWORK ASCENT: a line per two seeds and figure: its name, JOB, NETWORK, factor, ASCENT.
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
					for (b = a + 1; b <= NR; b++) {
						if (!moves[i])
							continue
						less = value[a, i] < value[b, i] ? value[a, i] : value[b, i]
						more = value[a, i] + value[b, i] - less
						small = i == 3 && more - less < 0.25 * value[a, 1]
						factor = small ? 1 : less > 0 ? more / less : 1e9
						printf "%s %s %s %.6f %s\n", name[i], job, network, factor, ascent
					}
		}'
}

# limits: per figure and ascent the limit and the share of false verdicts; with --each that of a job.
limits() {
	sort -g -k4 | awk -v each="$each" '
		function limit(key, without, n, at, k, of, swap, sorted) {
			n = 0
			for (k in count) {
				split(k, of, " ")
				if (of[1] " " of[2] == key && of[3] != without)
					sorted[++n] = factor[k, int(count[k] * 0.95)]
			}
			for (k = 2; k <= n; k++)
				for (at = k; at > 1 && sorted[at] < sorted[at - 1]; at--) {
					swap = sorted[at]
					sorted[at] = sorted[at - 1]
					sorted[at - 1] = swap
				}
			return n ? sorted[int(n * 0.9) + (n * 0.9 < n)] : 1e9
		}
		{
			key = $1 " " $5 " " $2 " " $3
			factor[key, count[key]++] = $4
		}
		END {
			for (key in count) {
				split(key, of, " ")
				if (each == "true")
					printf "%s_%s_%s_%s,%.3f,factor\n", of[1], of[2], of[3], of[4],
						factor[key, int(count[key] * 0.95)]
				most = limit(of[1] " " of[2], of[3])
				n_false = 0
				for (i = 0; i < count[key]; i++)
					n_false += factor[key, i] > most
				share[of[1] " " of[2]] += n_false / count[key]
				jobs[of[1] " " of[2]]++
			}
			for (key in jobs) {
				split(key, of, " ")
				printf "%s_%s,%.3f,factor\n", of[1], of[2], limit(key, "")
				printf "%s_%s_false,%.1f,%%\n", of[1], of[2], 100 * share[key] / jobs[key]
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
limits <changes
