#!/usr/bin/env bash
# How instructions grow with what a replay is of: no step grows faster than its work. Of three sizes the
# exponent e of fixed + c * size^e, which is to be at most $most; and the scenes of instructions.sh that take long.
# And a closed loop of many messages within bounds of memory.
#   growth.sh          prints the exponents
#   growth.sh --smoke  the test
set -euo pipefail
shopt -s inherit_errexit
# shellcheck source=tests/bench/lib_instructions.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib_instructions.sh"
most=1.10
failed=0

# judge NAME SIZE COUNT SIZE COUNT SIZE COUNT: prints the exponent.
judge() {
	local exponent
	exponent=$(awk -v a="$2" -v x="$3" -v b="$4" -v y="$5" -v c="$6" -v z="$7" 'BEGIN {
		low = 0.01
		high = 4
		for (i = 0; i < 60; i++) {
			e = (low + high) / 2
			if ((c ^ e - b ^ e) / (b ^ e - a ^ e) < (z - y) / (y - x)) low = e; else high = e
		}
		printf "%.3f", e
	}')
	echo "growth_$1,$exponent,exponent"
	if awk -v e="$exponent" -v most="$most" 'BEGIN { exit e <= most }'; then
		echo "$1: from $2 to $4 and $6 instructions grow from $3 to $5 and $7, by an exponent of $exponent"
		failed=1
	fi
}

# by_packets NAME SIZES NETWORK NODES SIZE MESSAGES...: replays with each of three sizes in place of N, by the packets
# that they come to, in bins of 1 ms.
by_packets() {
	local name=$1 sizes=$2 at=() n taken
	shift 2
	for n in $sizes; do
		taken=$(replay_uniform "${@//N/$n}" --bin 1ms)
		at+=("$(packets)" "$taken")
	done
	judge "$name" "${at[@]}"
}

# Two levels of switches, so that paths are as long.
at=()
for arity in 8 16 32; do
	taken=$(replay_uniform "ib-hdr,arity=$arity,levels=2" $((arity * arity)) 16K 4)
	at+=($((arity * arity)) "$taken")
done
judge nodes "${at[@]}"

net=ib-hdr,arity=4,levels=3
by_packets messages "16 32 64" $net 64 512 N
by_packets packets "4 8 16" $net 64 64K N
by_packets packets_adaptive "4 8 16" $net,ascent=adaptive 64 64K N
# In steps of four: a table of blame that is full keeps from a half to all of its rows (2,015 of them with 16 messages
# a node, 4,096 with 32), and what storing them takes hides how the rest grows when sizes are only doubled.
by_packets packets_ethernet "4 16 64" ethernet,arity=4,levels=3 64 32K N
by_packets packets_qsnet "2 4 8" qsnet 64 16K N

# Bins of one run: so many.
for network in "$net" ethernet,arity=4,levels=3; do
	replay_uniform $network 64 64K 2 >"$work/said"
	took_ns=$(sqlite3 "$work/run.db" 'SELECT simulated_ps / 1000 FROM run')
	at=()
	for bins in 100 200 400; do
		at+=("$bins" "$(replay_uniform $network 64 64K 2 --bin $((took_ns / bins))ns)")
	done
	judge "bins_${network%%,*}" "${at[@]}"
done

# What is inferred of the beginning of a capture, by its packets.
infer() {
	count "$TAILBACK" convert -q --closed-loop "$1" --to "$2" -o "$work/inferred.goal"
}
capture=${TB_SHARED:-$TB_SOURCE/../shared}/data/captures/lmp16_melt_mtu.pcap.zst spans="1s 1500ms 2500ms"
[[ -e $capture ]] || { capture=$TB_SOURCE/tests/data/alltoall16.pcap.zst spans="20ms 40ms 80ms"; }
at=()
for span in $spans; do
	frames=$("$TAILBACK" info --json "$capture" --to "$span" | sed -n 's/^ *"packets": \([0-9]*\).*/\1/p' | head -n 1)
	at+=("$frames" "$(infer "$capture" "$span")")
done
judge capture "${at[@]}"

# What a closed loop has in memory, not in files: at most so many bytes per message beside 64 MiB.
messages=1000000 bytes=600
python3 "$here/../support/short_messages.py" $messages >"$work/short.pcap"
if ! (ulimit -d $((messages * bytes / 1024 + 65536)) && "$TAILBACK" replay -q --closed-loop "$work/short.pcap" \
	-n ethernet-shaped,rate=1Gbit/s -o "$work/short.db"); then
	echo "closed loop: $messages messages take more than $bytes bytes each"
	failed=1
fi

if [[ ${1-} == --smoke ]]; then
	code=0
	bash "$here/instructions.sh" --smoke --long || code=$?
	((code == 0 || code == 77)) || failed=1
fi
exit "$failed"
