#!/bin/bash
# Real programs took so long at four link rates: replayed from what their ranks called, over
# the preset ethernet-shaped, they take as long. Jobs are made here, from the logs of one rate, for
# all rates; each rank's computation is the time between its calls.
set -euo pipefail

whatif=$TB_SHARED/data/whatif
if [[ ! -d $whatif ]]; then
	echo "skipped: $whatif is not here, with what the programs called and how long they took"
	exit 77
fi
if ! command -v zstd > /dev/null; then
	echo "skipped: zstd is not installed, and the logs are compressed"
	exit 77
fi
. "$TB_SOURCE/tests/support/real_input.sh"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"

# What awk scripts share: an operation, behind others; computation up to a call, with the time
# within it if it waits for nobody; exchanges by recursive doubling. A run is timed from behind
# a barrier, which opens connections, to before the next one.
common='
function op(text, requires, i, n, ids) {
	print "l" ++n_ops ": " text
	n = split(requires, ids, " ")
	for (i = 1; i <= n; i++)
		print "l" n_ops " requires l" ids[i]
	return n_ops
}
function compute(requires, within) {
	return op("calc " ($1 + within > end ? $1 + within - end : 0), requires)
}
function double(bytes, tag, requires, i, p) {
	for (i = 0; i < 3; i++) {
		p = me + (int(me / 2 ^ i) % 2 ? -1 : 1) * 2 ^ i
		op("send " bytes "b to " p " tag " tag + i, requires)
		requires = op("recv " bytes "b from " p " tag " tag + i, requires)
	}
	return requires
}
BEGIN { print "rank " me " {" }
$3 == "Barrier" && ++n_barriers == first { begun = 1; end = $1 + $2; last = double(0, 1000000, ""); next }
begun && $3 == "Barrier" { over = 1 }
!begun || over { next }
END { print "}" }
'

# 64 KiB are more than Open MPI sends at once: a request, an answer, and the data. A rank
# takes requests and answers one by one, in the order in which they come, while it is in a
# call: what came while it computed, it takes behind its own requests, as its processor is
# busy until then.
a2a='
$3 == "Alltoall" {
	c = compute(last); last = ""
	for (i = 1; i < 8; i++) {
		p = (me + i) % 8
		came = op("recv 40b from " p " tag " n * 4)
		answer[p] = op("calc 1000", came)
	}
	for (i = 1; i < 8; i++) {
		p = (me + i) % 8
		op("send 64b to " p " tag " n * 4 + 1, c " " answer[p])
	}
	for (i = 1; i < 8; i++)
		op("send 40b to " (me + i) % 8 " tag " n * 4, c)
	for (i = 1; i < 8; i++) {
		p = (me + i) % 8
		allowed = op("calc 1000", op("recv 64b from " p " tag " n * 4 + 1))
		op("send 65592b to " p " tag " n * 4 + 2, allowed)
		last = last " " op("recv 65592b from " p " tag " n * 4 + 2)
	}
	n++; end = $1 + $2
}
'
# The operating system takes 16 or 32 KiB at once: a send needs no waiting.
halo='
$3 == "Irecv" { last = compute(last, $2); due = due " " op("recv " $5 "b from " $4 " tag " step * 16 + $6, last) }
$3 == "Isend" { last = compute(last, $2); op("send " $5 "b to " $4 " tag " step * 16 + $6, last) }
$3 == "Waitall" { last = compute(last) due; due = "" }
$3 == "Allreduce" {
	last = double(8, step * 16 + 8, compute(last))
	step++
}
{ end = $1 + $2 }
'
ring='
$3 == "Recv" { last = compute(last); last = op("recv " $5 "b from " $4 " tag " $6, last) }
$3 == "Send" { last = compute(last); op("send " $5 "b to " $4 " tag " $6, last) }
{ end = $1 + $2 }
'

# Each rank exchanges atoms with one neighbour after the other.
lammps='
$3 == "Irecv" { last = compute(last, $2); due = op("recv " $5 "b from " $4 " tag " from[$4]++, last) }
$3 == "Send" { last = compute(last); op("send " $5 "b to " $4 " tag " to[$4]++, last) }
$3 == "Wait" { last = compute(last) " " due }
$3 == "Sendrecv" {
	last = compute(last)
	op("send " $5 "b to " $4 " tag " to[$4]++, last)
	last = op("recv " $5 "b from " $4 " tag " from[$4]++, last)
}
$3 == "Allreduce" { last = double($5, 1000 * ++step, compute(last)) }
$3 !~ /^(Irecv|Send|Wait|Sendrecv|Allreduce)$/ { print "what is " $3 "?" }
{ end = $1 + $2 }
'

# job PROGRAM RATE SCRIPT writes the exact job of a run.
job() {
	rm -rf logs && mkdir logs
	zstd -qdc "$whatif/mpilog/$1_$2m.tar.zst" | tar xf - -C logs
	{
		echo "num_ranks 8"
		for me in 0 1 2 3 4 5 6 7; do
			awk -v me=$me -v first=$first "$common$3" "logs/rank0$me.txt"
		done
	} > "$1_$2.goal"
}

# took PROGRAM RATE is what the captured run took, in milliseconds; off is how far a replay of
# the job of the run at OTHER is from that, in percent.
took() {
	awk -F, -v p="$1" -v r="$2" '$1 == p && $2 == r && $4 == 1 { printf "%.0f", $5 * 1000 }' "$whatif/times.csv"
}
off() {
	local simulated
	rm -f run.db
	"$TAILBACK" replay "$1_$3.goal" -n "ethernet-shaped,rate=$2Mbit/s" -o run.db > replay.txt 2>&1
	simulated=$(awk '/^simulated/ { print $2 * ($3 == "s:" ? 1000 : 1) }' replay.txt)
	awk -v s="$simulated" -v t="$(took "$1" "$2")" 'BEGIN { printf "%.1f", 100 * (s / t - 1) }'
}

failed=0
first=1 # the barrier behind which a program is timed
# holds PROGRAM SCRIPT LOWEST HIGHEST...: percent, a pair for each of 10, 50, 100, 200 Mbit/s.
holds() {
	local program=$1 script=$2 rate other percent rates="10 50 100 200"
	shift 2
	[[ $program == lammps8 ]] && rates="10 50 100"
	for rate in $rates; do
		there "whatif/mpilog/${program}_${rate}m.tar.zst" || return 0
	done
	for rate in $rates; do
		job "$program" $rate "$script"
	done
	for rate in $rates; do
		for other in $rates; do
			percent=$(off "$program" $rate $other)
			echo "$program at $rate Mbit/s by its calls at $other: $percent %"
			awk -v p="$percent" -v a="$1" -v b="$2" 'BEGIN { exit !(p >= a && p <= b) }' && continue
			echo "  expected $1 to $2 %"
			failed=1
		done
		shift 2
	done
}
holds ring8 "$ring" -2 2 -2 2 -2 2 -2 2
holds halo8 "$halo" -4 1 -4 2 -4 3 -8 0
holds a2a8 "$a2a" -10 8 0 15 0 18 -4 4
# At 100 Mbit/s its ranks had to share two processors.
first=3
holds lammps8 "$lammps" -3 3 -5 2 -16 -5
exit $failed
