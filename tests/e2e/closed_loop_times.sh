#!/bin/bash
# Real programs were captured at several link rates: jobs inferred from the packets of one rate
# take about as long at another as the program did. docs/closed-loop.md also has the range
# of the pairs that are not held here because they come out worse.
set -euo pipefail

whatif=$TB_SHARED/data/whatif
if [[ ! -d $whatif ]]; then
	echo "skipped: $whatif is not here, with captures of programs and how long they took"
	exit 77
fi
. "$TB_SOURCE/tests/support/real_input.sh"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
status=0

# run_of PROGRAM RATE: seconds, start and end of the run that was captured.
run_of() {
	awk -F, -v program="$1" -v rate="$2" \
		'$1 == program && $2 == rate && $4 == 1 { print $5, $6, $7 }' "$whatif/times.csv"
}

# hold PROGRAM FROM TO PERCENT: the capture at one rate, replayed at another.
hold() {
	local start end wanted off
	there "whatif/$1_$2m.pcap.zst" || return 0
	read -r _ start end <<< "$(run_of "$1" "$2")"
	read -r wanted _ <<< "$(run_of "$1" "$3")"
	rm -f "$scratch/run.db"
	"$TAILBACK" replay -q "$whatif/$1_$2m.pcap.zst" --closed-loop --from "$start" --to "$end" \
		-n "ethernet-shaped,rate=$3Mbit/s" --no-blame -o "$scratch/run.db"
	off=$("$TAILBACK" info "$scratch/run.db" --json | grep -o '"simulated_ps": *[0-9]*' | head -n 1 |
		awk -v wanted="$wanted" '{ print ($2 / 1e12 / wanted - 1) * 100 }')
	awk -v off="$off" -v most="$4" 'BEGIN { exit !(off <= most && off >= -most) }' || {
		echo "$1 from $2 to $3 Mbit/s is off by $off %, more than $4 %"
		status=1
	}
}

for to in 10 50; do hold ring8 10 $to 5; done
for from in 50 100 200; do
	for to in 50 100 200; do
		hold ring8 $from $to 5
		hold halo8 $from $to 10
	done
done
hold ring8 50 10 5
hold halo8 50 10 12
hold halo8 10 10 10
for from in 10 50; do
	for to in 10 50; do hold a2a8 $from $to 15; done
done
hold a2a8 50 100 25
hold a2a8 50 200 15
for from in 100 200; do
	for to in 50 100 200; do hold a2a8 $from $to 20; done
done
for from in 10 50; do hold lammps8 $from 10 8; done
hold lammps8 10 50 17
hold lammps8 50 50 8
hold lammps8 50 100 14
for to in 50 100; do hold lammps8 100 $to 8; done
exit $status
