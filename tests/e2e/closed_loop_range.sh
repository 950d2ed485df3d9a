#!/bin/bash
# A closed loop answers with a range: the measured time lies in it, at the captured rate and at
# others; wide ranges say why. tests/support/judge_range.py judges all pairs.
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

# times PROGRAM RATE CAPTURED: seconds, start and end of one such run.
times() {
	awk -F, -v program="$1" -v rate="$2" -v captured="$3" \
		'$1 == program && $2 == rate && $4 == captured { print $5, $6, $7; exit }' "$whatif/times.csv"
}

# replay PROGRAM FROM TO [OPTION...]: the capture at one rate, at another.
replay() {
	local start end
	read -r _ start end <<< "$(times "$1" "$2" 1)"
	rm -f "$scratch/run.db"
	"$TAILBACK" replay "$whatif/$1_$2m.pcap.zst" --closed-loop --from "$start" --to "$end" \
		-n "${network:-ethernet-shaped,rate=$3Mbit/s}" --no-blame -o "$scratch/run.db" "${@:4}" 2> "$scratch/said"
}

ask() {
	sqlite3 "$scratch/run.db" "SELECT $1 FROM run JOIN run_range USING (run)"
}

# hold PROGRAM FROM TO: contains the measured time, and the replay of what is likely, and nothing that the links of a
# node cannot do.
hold() {
	local wanted links
	there "whatif/$1_$2m.pcap.zst" || return 0
	read -r wanted _ <<< "$(times "$1" "$3" 0)"
	replay "$@"
	links="(SELECT max(busy_ps) FROM link_total JOIN link USING (run, link) WHERE kind IN ('injection', 'ejection'))"
	[[ $(ask "least_ps >= $links AND $wanted * 1e12 BETWEEN least_ps AND most_ps AND simulated_ps BETWEEN least_ps AND most_ps") == 1 ]] || {
		echo "$1 from $2 at $3 Mbit/s took $wanted s, out of the range:"
		ask "least_ps / 1e12, simulated_ps / 1e12, most_ps / 1e12"
		status=1
	}
}

for from in 10 50; do hold a2a8 $from 200; done
hold halo8 100 100
hold halo8 100 10
for from in 50 200; do
	for to in 50 200; do hold ring8 $from $to; done
done

if there whatif/a2a8_50m.pcap.zst; then
	replay a2a8 50 200
	head -n 1 "$scratch/said" | grep -q 'of the calls were hidden by queues.*tailback trace' || {
		echo "the first line does not say why the range is wide: $(head -n 1 "$scratch/said")"
		status=1
	}
	"$TAILBACK" report --full "$scratch/run.db" > "$scratch/report"
	sed -n 4p "$scratch/report" | grep -q '  - By what was recorded the run takes between.*of the calls were hidden by queues.*tailback trace' || {
		echo "the range is not the first sentence of the report: $(sed -n 4p "$scratch/report")"
		status=1
	}
	# Its ports are shaped ones, which the preset ethernet has not.
	! grep -q 'ports of the captured network' "$scratch/said" || { echo "ethernet-shaped lacks a bucket: $(cat "$scratch/said")"; status=1; }
	network=ethernet,rate=200Mbit/s replay a2a8 50 200 --no-range
	grep -q 'note: ports of the captured network let 3.1.* KiB pass at once .*burst=3' "$scratch/said" || {
		echo "nothing on the bucket: $(cat "$scratch/said")"
		status=1
	}
	replay a2a8 50 200 --no-range
	[[ -z $(ask 1) && $("$TAILBACK" info "$scratch/run.db" --json | grep -c 'run_time_least_ps": null') -gt 0 ]] || {
		echo "--no-range has a range"
		status=1
	}
fi

# Two such runs have a verdict only where both ends of their ranges change alike.
# judged A B WHAT: what `compare` says of the only job.
judged() {
	"$TAILBACK" compare --full "$scratch/$1.db" "$scratch/$2.db" | grep '^Job ' > "$scratch/judged"
	grep -Eq "^Job [^ ]* $3: it takes .* less .*; what was captured allows .* in A, in B " "$scratch/judged" || {
		cat "$scratch/judged"
		status=1
	}
}
if there captures/io16_200m.pcap.zst; then
	for rate in 200 1000 20; do
		"$TAILBACK" replay "$TB_SHARED/data/captures/io16_200m.pcap.zst" --closed-loop \
			-n "ethernet,rate=${rate}Mbit/s,queue=4MB" --no-bounds --no-check --no-blame -q -o "$scratch/at_$rate.db"
	done
	judged at_200 at_1000 "has no verdict"
	grep -q 'so it may as well change nothing' "$scratch/judged" || { cat "$scratch/judged"; status=1; }
	judged at_20 at_200 gains
fi
exit $status
