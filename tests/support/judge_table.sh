#!/bin/bash
# Prints how well messages and causes are inferred from the real captures, a row a
# capture:
#
#     tests/support/judge_table.sh build/dev/tests/infer_judge ../shared [PATTERN]
#
# PATTERN (a regular expression) chooses captures.
set -euo pipefail
judge=$1
data=$2/data
pattern=${3:-.}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# row NAME [OPTION...] CAPTURE FROM TO LOGS
row() {
	local name=$1
	shift
	[[ ! $name =~ $pattern ]] || "$judge" "${@:1:$#-4}" "$name" "${@: -4}"
}

# whole NAME CAPTURE LOGS [OPTION...]: from the first packet to the last.
whole() {
	local first last
	[[ $1 =~ $pattern ]] || return 0
	read -r first last <<< "$(sed -nE '1s/.*first packet ([0-9]+) ns, last ([0-9]+) ns.*/\1 \2/p' \
		"$data/captures/$2.phases.txt")"
	row "$1" "${@:4}" "$data/captures/$2.pcap.zst" "$first" "$last" "$data/jobs/$3.tar.zst"
}

# timed NAME START END: the timed interval, from where all ranks are in the barrier before it:
# an instant that ranks reach in different calls would cut messages in two.
timed() {
	local logs=$scratch/$1 from
	[[ $1 =~ $pattern ]] || return 0
	mkdir "$logs"
	zstd -qdc "$data/whatif/mpilog/$1.tar.zst" | tar xf - -C "$logs"
	from=$(awk -v start="$2" '
		$3 == "Barrier" && $1 <= start { entered[FILENAME] = $1 }
		END { for (file in entered) print entered[file] }' "$logs"/rank*.txt | sort -n | tail -n 1)
	row "$1" "$data/whatif/$1.pcap.zst" $((from + 1)) "$3" "$logs"
}

while IFS=, read -r run start end; do
	timed "$run" "$start" "$end"
done < <(awk -F, '$4 == 1 { print $1 "_" $2 "m," $6 "," $7 }' "$data/whatif/times.csv" |
	sort -t_ -k1,1 -k2,2n)
for capture in lmp16_melt_mtu lmp64_melt_mtu hpcc16_mtu_kernels coll64_mtu; do
	whole $capture $capture $capture
done
whole mix64_mtu,lammps mix64_mtu mix64_mtu_lammps --stride 2
whole mix64_mtu,coll mix64_mtu mix64_mtu_coll --first 1 --stride 2
