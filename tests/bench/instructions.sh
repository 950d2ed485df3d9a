#!/usr/bin/env bash
# Instructions per packet, counted by callgrind, so that neither the machine nor what else it does
# matters: uniform traffic without end, recorded into memory with all that a replay records;
# sweeps, which are stored; and the same traffic in parts: all windows, and what of them one thread
# does while the others wait, which stays below $serial.
#   instructions.sh          prints what each scene takes
#   instructions.sh --smoke  the test: fails when a scene takes 5 % more than instructions.csv has
#   instructions.sh --pin    puts what the scenes take into instructions.csv
# Optimized code differs by compiler, and stores are written by SQLite: the rows of other versions
# than those here are not compared.
set -euo pipefail
here=$(dirname "${BASH_SOURCE[0]}")
pinned=$here/instructions.csv
build=${TB_BUILD:-$TB_BENCH_BIN/..}
slack=5 # percent
serial=20 # of 1000 in all windows

# NAME WHAT ARGUMENT...: of bench_replay_engine --once, of tailback sweep, or of bench_replay_parts
# --once behind the functions upon whose entry and exit counting begins or ends.
scenes=(
	"qsnet_64 engine uniform 100000"
	"qsnet_4096 engine uniform_4096 60000"
	"ib-hdr_64 engine credits 100000"
	"ib-hdr_4096 engine credits_4096 60000"
	"ib-hdr_4096_parts parts tb_windows_run 4096 60000 1"
	"ib-hdr_4096_serial parts tb_windows_run,tb_team_run 4096 60000 1"
	"ethernet_4096_parts parts tb_windows_run ethernet_4096 20000 1"
	"ethernet_4096_serial parts tb_windows_run,tb_team_run ethernet_4096 20000 1"
	"sweep_qsnet_64 sweep network=qsnet nodes=64 window=400us warm=50us seed=1..4"
	"sweep_qsnet_4096 sweep network=qsnet arity=16 nodes=4096 window=50us warm=20us seed=1..2"
)

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

# count COMMAND...: prints how many instructions it executes, or those within $within; its own
# output goes to $work/out.
within=''
count() {
	local options=()
	[[ -z $within ]] || read -r -a options <<<"--toggle-collect=${within//,/ --toggle-collect=}"
	valgrind --tool=callgrind --callgrind-out-file="$work/callgrind" "${options[@]}" "$@" \
		>"$work/out" 2>"$work/log" || {
		cat "$work/log" >&2
		return 1
	}
	sed -n 's/^.* Collected : *//p' "$work/log"
}

# measure WHAT ARGUMENT...: prints the instructions per packet.
measure() {
	local what=$1 n packets
	shift
	if [[ $what == engine ]]; then
		n=$(count "$TB_BENCH_BIN/bench_replay_engine" --once "$@")
		packets=$(cat "$work/out")
	elif [[ $what == parts ]]; then
		within=$1
		n=$(count "$TB_BENCH_BIN/bench_replay_parts" --once "${@:2}")
		packets=$(cat "$work/out")
		within=''
	else
		rm -f "$work/sweep.db"
		n=$(count "$TAILBACK" sweep -q --blame --jobs 1 --set load=full "${@/#/--set=}" \
			-o "$work/sweep.db" uniform)
		packets=$(sqlite3 "$work/sweep.db" 'SELECT sum(n_packets) FROM run')
	fi
	echo $((n / packets))
}

[[ -z $(cached TB_SANITIZE) && $(cached CMAKE_BUILD_TYPE) == Release ]] ||
	skip "instructions are counted in the optimized build without sanitizers"
command -v valgrind >/dev/null || skip "valgrind is not installed"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
with=$(compiler)
sqlite=$(sqlite3 --version | cut -d ' ' -f 1)
failed=0 compared=0
rows=()
declare -A taken_by
for scene in "${scenes[@]}"; do
	read -r -a words <<<"$scene"
	name=${words[0]} key=$with
	[[ ${words[1]} != sweep ]] || key+=", SQLite $sqlite"
	limit=$(awk -F ';' -v k="$key" -v n="$name" '$1 == k && $2 == n { print $3 }' "$pinned")
	if [[ ${1-} == --smoke && -z $limit ]]; then
		echo "$name: $(basename "$pinned") has no figure of $key"
		continue
	fi
	taken=$(measure "${words[@]:1}")
	rows+=("$key;$name;$taken")
	taken_by[$name]=$taken
	echo "instructions_$name,$taken,instructions/packet"
	[[ ${1-} == --smoke ]] || continue
	compared=1
	if ((taken * 100 > limit * (100 + slack))); then
		echo "$name: $taken instructions per packet, pinned are $limit"
		failed=1
	fi
done
for network in ib-hdr_4096 ethernet_4096; do
	whole=${taken_by[${network}_parts]-} alone=${taken_by[${network}_serial]-}
	[[ -n $whole && -n $alone ]] || continue
	echo "instructions_${network}_serial_share,$((1000 * alone / whole)),of 1000"
	if ((1000 * alone >= whole * serial)); then
		echo "$network: $alone of $whole instructions per packet in parts are serial"
		failed=1
	fi
done
if [[ ${1-} == --pin ]]; then
	{
		echo 'compiler;scene;instructions per packet'
		{
			printf '%s\n' "${rows[@]}"
			awk -F ';' 'NR == FNR { fresh[$1 ";" $2]; next } FNR > 1 && !(($1 ";" $2) in fresh)' \
				<(printf '%s\n' "${rows[@]}") "$pinned"
		} | sort
	} >"$work/pinned"
	cp "$work/pinned" "$pinned"
fi
[[ ${1-} != --smoke || $compared == 1 ]] || skip "no figure in $(basename "$pinned") is of $with"
exit "$failed"
