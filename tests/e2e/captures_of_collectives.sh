# MPI collectives, captured: traffic and waiting are where the phase file says, as much as the
# collective moves; and one run seen from four capture points is one trace.
set -eu
# shellcheck source=tests/support/captures.sh
. "$TB_SOURCE/tests/support/captures.sh"

# Of a phase of N nodes, all-to-all and all-gather of B bytes move N (N - 1) B a repetition; the
# frames add their headers: 66 bytes to 1448 at the most, more where messages are small.
moves() {
	local got
	got=$(bytes_in "$1")
	within "$1" "$got" "$2" "$((${3:-1120} * $2 / 1000))"
}

replay coll16_gso.pcap.zst
read_phases coll16_gso.phases.txt
size 16 240
is "phases" "$(ask "SELECT count(*) FROM phase")" 32
within "bytes in phases" "$(ask "SELECT 100 * (SELECT sum(bytes) FROM moment WHERE EXISTS
	(SELECT 1 FROM phase WHERE $in_phase)) / sum(bytes) FROM moment")" 95 100
within "wait in phases" "$(ask "SELECT 100 * (SELECT sum(wait_us) FROM moment WHERE EXISTS
	(SELECT 1 FROM phase WHERE $in_phase)) / sum(wait_us) FROM moment")" 95 100
within "time of phases" "$(ask "SELECT 100 * (SELECT sum(end_s - begin_s) FROM phase) / max(at_s) FROM moment")" 5 12
for bytes in 16384 65536; do
	moves "alltoall bytes=$bytes %" $((16 * 15 * bytes * 2))
	moves "allgather bytes=$bytes %" $((16 * 15 * bytes * 2))
	# A permutation, and a ring: a message each.
	moves "shift_half bytes=$bytes %" $((16 * bytes * 2))
	moves "ringshift bytes=$bytes %" $((16 * bytes * 2))
done
# Waiting grows with what is moved, all-to-all waits most, and permutations hardly at all.
wait=$(wait_in "alltoall bytes=65536 %")
within "all-to-all's share" "$(ask "SELECT 100 * $wait / sum(wait_us) FROM moment")" 55 75
is "all-to-all, small" "$(wait_in "alltoall bytes=8 %")" 0.0
is "all phases of 8 bytes" "$(wait_in "% bytes=8 %")" 0.0
for phase in alltoall allgather gather; do
	within "$phase, more bytes" "$(wait_in "$phase bytes=65536 %")" "$(wait_in "$phase bytes=16384 %")" "$wait"
done
for phase in ringshift shift_half bcast scatter; do
	within "$phase" "$(wait_in "$phase %")" 0 "$(ask "SELECT $wait / 100")"
done

replay coll64_mtu.pcap.zst
read_phases coll64_mtu.phases.txt
size 64 4032
is "phases" "$(ask "SELECT count(*) FROM phase")" 10
within "bytes in phases" "$(ask "SELECT 100 * (SELECT sum(bytes) FROM moment WHERE EXISTS
	(SELECT 1 FROM phase WHERE $in_phase)) / sum(bytes) FROM moment")" 92 100
# QsNet sends whole blocks of 64 bytes.
moves "alltoall bytes=4096 %" $((64 * 63 * 4096)) 1210
moves "allgather bytes=4096 %" $((64 * 63 * 4096)) 1210
# 36.4 MB of TCP payload (README), on 64 nodes.
within "payload" "$(ask "SELECT json_extract(input_summary, '\$.payload_bytes') / 1e6 FROM run")" 36.3 36.5
within "all-to-all waits most" "$(wait_in "alltoall bytes=4096 %")" "$(wait_in "a%ga%r bytes=4096 %")" 1000000

# Eight nodes: seen on the bridge, by "any", by each node, and as eight interfaces of one file.
tar -C "$scratch" --zstd -xf "$captures/coll8_points.tar.zst"
captures=$scratch/coll8_points
cp "$TB_SHARED/data/captures/coll8_points.phases.txt" "$captures"
for point in bridge.pcap any.pcap merged_nodes.pcapng n0.pcap; do
	others=()
	[[ $point != n0.pcap ]] || others=("$captures"/n[1-7].pcap)
	replay $point "${others[@]}"
	size 8 56
	is "$point" "$(ask "SELECT n_messages || ' ' || n_packets || ' ' || delivered_bytes FROM run")" "1968 5218 1336188"
	ask "SELECT source, destination, messages, bytes FROM flow" >"$scratch/flows.$point"
	cmp "$scratch/flows.bridge.pcap" "$scratch/flows.$point"
done
read_phases coll8_points.phases.txt
within "bytes in phases" "$(ask "SELECT 100 * (SELECT sum(bytes) FROM moment WHERE EXISTS
	(SELECT 1 FROM phase WHERE $in_phase)) / sum(bytes) FROM moment")" 85 100
moves "alltoall bytes=8192 %" $((8 * 7 * 8192))
moves "allgather bytes=8192 %" $((8 * 7 * 8192))
