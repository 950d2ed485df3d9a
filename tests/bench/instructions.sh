#!/usr/bin/env bash
# Instructions per packet, counted by callgrind, so that neither the machine nor what else it does
# matters. What users run is pinned: whole replays with all that is recorded by default, one of a
# capture in closed loop, and advice. Then the parts: the engine recording into memory, sweeps, which
# are stored, and the same traffic in parts: all windows, and what of them one thread does while the
# others wait, which stays below $serial.
#   instructions.sh                 prints what each scene takes
#   instructions.sh --smoke         the test: fails when a quick scene takes 5 % more than instructions.csv has
#   instructions.sh --smoke --long  the other scenes (growth.sh)
#   instructions.sh --pin [NAME...] puts what all scenes, or these, take into instructions.csv
# Optimized code differs by compiler, and stores are written by SQLite: the rows of other versions
# than those here are not compared.
set -euo pipefail
shopt -s inherit_errexit
# shellcheck source=tests/bench/lib_instructions.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib_instructions.sh"
pinned=$here/instructions.csv
slack=5 # percent
serial=20 # of 1000 in all windows

# NAME WHAT ARGUMENT...:
#   replay NETWORK NODES SIZE FEW MANY    between replays of so many messages a node: each packet more
#   misses NETWORK NODES SIZE FEW MANY    likewise, misses of a cache of the second level, in thousandths
#   capture OPTION...                     a replay of a capture of 16 nodes
#   advise TRIES                          advice on a job of 16 nodes, with all its replays
#   engine SCENE PACKETS                  bench_replay_engine --once
#   sweep KEY=VALUE...                    tailback sweep
#   parts FUNCTION,... NODES...           bench_replay_parts --once, between entry and exit of functions
quick=(
	"replay_ib-hdr_64 replay ib-hdr,arity=4,levels=3 64 16K 2 6"
	"replay_ethernet_64 replay ethernet,arity=4,levels=3 64 8K 2 6"
)
long=(
	"replay_ib-hdr_64_long replay ib-hdr,arity=4,levels=3 64 256K 2 6"
	"replay_ib-hdr_64_adaptive replay ib-hdr,arity=4,levels=3,ascent=adaptive 64 256K 1 3"
	"replay_roce-400_64 replay roce-400,arity=4,levels=3 64 256K 1 3"
	"replay_qsnet_64 replay qsnet 64 64K 1 3"
	"replay_ethernet_64_long replay ethernet,arity=4,levels=3 64 256K 1 3"
	"replay_ib-hdr_4096 replay ib-hdr,arity=16,levels=3 4096 32K 1 2"
	"replay_roce-400_4096 replay roce-400,arity=16,levels=3 4096 32K 1 2"
	"replay_qsnet_4096 replay qsnet,arity=16,levels=3 4096 2K 1 2"
	"replay_ethernet_4096 replay ethernet,arity=16,levels=3 4096 4K 1 2"
	"misses_ib-hdr_4096 misses ib-hdr,arity=16,levels=3 4096 16K 1 2"
	"closed_loop_16 capture --closed-loop"
	"advise_16 advise 3"
	"qsnet_64 engine uniform 100000"
	"qsnet_4096 engine uniform_4096 60000"
	"ib-hdr_64 engine credits 100000"
	"ib-hdr_4096 engine credits_4096 60000"
	"ib-hdr_4096_parts parts tb_windows_run 4096 60000 1"
	"ib-hdr_4096_serial parts tb_windows_run,tb_team_run_filled 4096 60000 1"
	"ethernet_4096_parts parts tb_windows_run ethernet_4096 20000 1"
	"ethernet_4096_serial parts tb_windows_run,tb_team_run_filled ethernet_4096 20000 1"
	"sweep_qsnet_64 sweep network=qsnet nodes=64 window=400us warm=50us seed=1..4"
	"sweep_qsnet_4096 sweep network=qsnet arity=16 nodes=4096 window=50us warm=20us seed=1..2"
)

# marginal FIELDS FACTOR NETWORK NODES SIZE FEW MANY OPTION...: FACTOR times FIELDS (see collected) for each
# packet that MANY messages have and FEW do not; OPTIONs are callgrind's.
marginal() {
	local fields factor=$2 network=$3 nodes=$4 size=$5 messages n=() p=()
	read -r -a fields <<<"$1"
	for messages in "$6" "$7"; do
		"$TAILBACK" synth uniform --nodes "$nodes" --message "$size" --messages "$messages" -o "$work/job.goal"
		rm -f "$work/run.db"
		traced "${@:8}" "$TAILBACK" replay -q "${whole[@]}" "$work/job.goal" -n "$network" -o "$work/run.db"
		n+=("$(collected "${fields[@]}")")
		p+=("$(packets)")
	done
	echo $((factor * (n[1] - n[0]) / (p[1] - p[0])))
}

# measure WHAT ARGUMENT...: prints the instructions per packet.
measure() {
	local what=$1 n of
	shift
	rm -f "$work/run.db"
	case $what in
	replay) marginal 1 1 "$@" ;;
	# Misses of the last level, which is as large as a usual second one, of code, reads and writes.
	misses) marginal "7 8 9" 1000 "$@" --cache-sim=yes --LL=1048576,16,64 ;;
	capture)
		n=$(count "$TAILBACK" replay -q "${whole[@]}" "$@" -n qsnet "$TB_SOURCE/tests/data/alltoall16.pcap.zst" \
			-o "$work/run.db")
		echo $((n / $(packets)))
		;;
	advise)
		"$TAILBACK" synth bit-reversal --nodes 16 --message 64K --messages 4 -o "$work/job.goal"
		"$TAILBACK" replay -q "$work/job.goal" -n ib-hdr,arity=4,levels=2 --no-bounds -o "$work/run.db"
		# A child begins with what its parent had collected.
		n=$(count --zero-before=tb_replay_with_inputs --zero-before=parse_only \
			"$TAILBACK" advise -q --no-keep --jobs 1 --tries "$1" "$work/run.db")
		echo $((n / $(packets)))
		;;
	engine)
		n=$(count "$TB_BENCH_BIN/bench_replay_engine" --once "$@")
		echo $((n / $(<"$work/out")))
		;;
	parts)
		read -r -a of <<<"--toggle-collect=${1//,/ --toggle-collect=}"
		n=$(count "${of[@]}" "$TB_BENCH_BIN/bench_replay_parts" --once "${@:2}")
		echo $((n / $(<"$work/out")))
		;;
	sweep)
		n=$(count "$TAILBACK" sweep -q --blame --jobs 1 --set load=full "${@/#/--set=}" -o "$work/run.db" uniform)
		echo $((n / $(packets)))
		;;
	esac
}

with=$(compiler)
sqlite=$(sqlite3 --version | cut -d ' ' -f 1)
failed=0 compared=0
rows=()
declare -A taken_by
scenes=("${quick[@]}" "${long[@]}")
[[ ${1-} != --smoke ]] || scenes=("${quick[@]}")
[[ ${2-} != --long ]] || scenes=("${long[@]}")
for scene in "${scenes[@]}"; do
	read -r -a words <<<"$scene"
	name=${words[0]} key=$with
	[[ ${1-} != --pin || $# == 1 || " ${*:2} " == *" $name "* ]] || continue
	[[ ${words[1]} == engine || ${words[1]} == parts ]] || key+=", SQLite $sqlite"
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
	all=${taken_by[${network}_parts]-} alone=${taken_by[${network}_serial]-}
	[[ -n $all && -n $alone ]] || continue
	echo "instructions_${network}_serial_share,$((1000 * alone / all)),of 1000"
	if ((1000 * alone >= all * serial)); then
		echo "$network: $alone of $all instructions per packet in parts are serial"
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
