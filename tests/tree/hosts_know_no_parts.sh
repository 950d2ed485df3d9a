# Hosts and records know nothing of the parts and processes that simulate a network together:
# how a replay is cut is behind replay/switching/replay_parts.h. The message parts that they
# do know are pieces of messages, shares of a latency and stretches of time.
set -u
cd "$TB_SOURCE" || exit 1
words='network_parts\.h|replay_parts\.h"|records_parts|tb_parts_|struct tb_parts\b|->parts->|\.parts->|by_part|is_part\b'
words+='|->side\b|tb_side_|near_cells|own_cells|n_joined|peer_streams|in_parts|[.>]elsewhere'
words+='|other processes|side by side|several processes'
lines=$(grep -nE "$words" replay/host/*.[ch] replay/records/*.[ch])
if [[ -n $lines ]]; then
	echo "$lines"
	echo "expected no part or process of a replay in replay/host and replay/records"
	exit 1
fi
