# Storage traffic, captured: 12 clients write to and read from 4 servers in bursts; RDMA writes and
# reads; and small captures of NFS, SMB and what else a switch sees.
set -eu
# shellcheck source=tests/support/captures.sh
. "$TB_SOURCE/tests/support/captures.sh"

# Four bursts, about two seconds apart: three of writes, clients (nodes 0-11) to servers (12-15), one of reads.
if there captures/io16_200m.pcap.zst; then
	replay io16_200m.pcap.zst
	read_phases io16_200m.phases.txt
	size 16 96
	within "retransmissions" "$(ask "SELECT json_extract(input_summary, '\$.n_retransmissions') FROM run")" 7000 8500
	begins=$(awk '/ - io_/ { print $1 }' "$captures/io16_200m.phases.txt")
	ends=$(awk '/ done burst/ { if ($1 > end[$6]) end[$6] = $1 } END { for (i = 0; i < 4; i++) print end["burst" i] }' \
		"$captures/io16_200m.phases.txt")
	sqlite3 "$scratch/phases.db" "INSERT INTO phase VALUES $(paste -d ' ' <(echo "$begins") <(echo "$ends") |
		awk '{ printf "%s(%s, %s, %s)", (NR > 1 ? ", " : ""), "\047burst" (NR - 1) "\047", $1, $2 }')"
	within "bytes in bursts" "$(ask "SELECT 100.0 * (SELECT sum(bytes) FROM moment JOIN phase ON $in_phase) / sum(bytes)
		FROM moment")" 99 100
	within "wait in bursts" "$(ask "SELECT 100.0 * (SELECT sum(wait_us) FROM moment JOIN phase ON $in_phase) / sum(wait_us)
		FROM moment")" 99 100
	for burst in 0 1 2 3; do
		within "burst $burst" "$(bytes_in burst$burst)" 36000000 60000000
		within "wait of burst $burst" "$(wait_in burst$burst)" 2000 1000000
	done
	# Who sends: in bursts of writes the clients' links into the network carry the bytes, then the servers'.
	servers_share() {
		ask "SELECT 100 * sum(iif(from_node >= 12, b.bytes, 0)) / sum(b.bytes) FROM link_bin AS b JOIN link USING (run, link)
			JOIN run AS r USING (run) JOIN phase ON b.bin * r.bin_ps / 1e12 BETWEEN begin_s AND end_s
			WHERE kind = 'injection' AND name = 'burst$1'"
	}
	for burst in 0 1 2; do
		within "servers in burst $burst" "$(servers_share $burst)" 0 3
	done
	within "servers in burst 3" "$(servers_share 3)" 97 100
	# Three quarters are writes, so the servers' own links are the roots of most that waits.
	within "roots before the servers" "$(ask "SELECT sum(percent) FROM congestion_roots WHERE root LIKE '%> node 12' OR
		root LIKE '%> node 13' OR root LIKE '%> node 14' OR root LIKE '%> node 15'")" 25 100
fi

# RoCEv2: 20 writes of 64 KiB and 4 x 10 sends of 8 KiB one way, 10 reads of 32 KiB the other.
if there captures/rxe.pcap.gz; then
	replay rxe.pcap.gz
	touch "$scratch/phases.db"
	size 2 2
	bytes_from() { ask "SELECT sum(bytes) FROM flow WHERE source = $1"; }
	within "writes and sends" "$(bytes_from 1)" $((20 * 65536 + 40 * 8192)) $(((20 * 65536 + 40 * 8192) * 108 / 100))
	within "reads" "$(bytes_from 0)" $((10 * 32768)) $((10 * 32768 * 112 / 100))
fi

# SMB2: the server (172.16.10.105 or its peer) sends what is read; the requests are next to nothing.
if there captures/suri-smb2-async-read.pcap; then
	replay suri-smb2-async-read.pcap
	size 2 2
	within "what is read" "$(ask "SELECT 100.0 * max(bytes) / sum(bytes) FROM flow")" 99 100
	within "load" "$(ask "SELECT json_extract(input_summary, '\$.load.busiest_share') FROM run")" 0.2 0.23
fi

# NAME NODES PAIRS MESSAGES: what else there is.
while read -r name nodes pairs messages; do
	there "captures/$name" || continue
	replay "$name" 2>/dev/null
	size "$nodes" "$pairs"
	is "$name" "$(ask "SELECT n_messages FROM run")" "$messages"
	is "$name, in flows" "$(ask "SELECT coalesce(sum(messages), 0) FROM flow")" "$messages"
done <<-END
	suri-nfs3-procedure.pcap 4 4 198
	suri-nfs4-01.pcap 2 2 70
	zeek-nfs_write.pcap 2 2 126
	zeek-erspan.pcap 4 3 191
	tcpdump-bigtcp-vxlan.pcap 2 1 56
	tcpdump-dcb_pfc.pcap 0 0 0
END
# The pause frames are no traffic, and that is said.
"$TAILBACK" replay -q "$captures/tcpdump-dcb_pfc.pcap" -o "$store" 2>"$scratch/said"
grep -q 'nothing in .*tcpdump-dcb_pfc.pcap was replayed' "$scratch/said"
is "pause frames" "$(ask "SELECT json_extract(input_summary, '\$.n_non_ip') FROM run WHERE run = 1")" 4
