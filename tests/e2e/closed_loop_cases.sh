#!/bin/bash
# Jobs of captures from public reports: where the time of a program went is told right.
set -euo pipefail

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"

# A receiver that closes its window for half a second after each 64 KiB: that is its time, and no more
# than 5 % of the run is computation.
"$TAILBACK" replay -q "$TB_SOURCE/tests/data/closed_window.pcap.zst" --closed-loop -n ethernet,rate=1Gbit/s -o closed.db
[[ $(sqlite3 closed.db "SELECT 20 * compute_ps < simulated_ps AND closed_ps BETWEEN 4.4e12 AND 4.6e12
	FROM run JOIN run_bound USING (run)") == 1 ]] || {
	sqlite3 closed.db "SELECT simulated_ps, compute_ps, closed_ps FROM run JOIN run_bound USING (run)"
	echo "the receiver's time is not told apart"
	exit 1
}
"$TAILBACK" report --full closed.db > report.txt
grep -q '4.500 s waiting for a receiver to open its window' report.txt
grep -q 'while a receiver kept its window closed' report.txt

cases=$TB_SHARED/data/cases
if [[ ! -d $cases ]]; then
	echo "skipped: $cases is not here, with captures that came out wrong"
	exit 77
fi
. "$TB_SOURCE/tests/support/real_input.sh"
# Answers may leave before the requests of their round, which then do not wait for them.
if there cases/closed-loop-cycle/train8_100m.pcap.zst; then
	"$TAILBACK" replay -q "$cases/closed-loop-cycle/train8_100m.pcap.zst" --closed-loop -n ethernet-shaped,rate=50Mbit/s \
		-o train.db
fi

# A capture at the client, 878 ms by its handshake from the server, whose answer to the request took
# 1155 ms: these are the path's. What remains, 33 ms, lies in the range.
if there cases/wan-latency/wan.pcap; then
	"$TAILBACK" replay -q "$cases/wan-latency/wan.pcap" --closed-loop -n ethernet,rate=1Gbit/s -o wan.db
	[[ $(sqlite3 wan.db "SELECT 33e9 BETWEEN least_ps AND most_ps AND most_ps < 4 * least_ps AND
		simulated_ps BETWEEN 16e9 AND 40e9 FROM run JOIN run_range USING (run)") == 1 ]] || {
		sqlite3 wan.db "SELECT least_ps / 1e9, simulated_ps / 1e9, most_ps / 1e9 FROM run JOIN run_range USING (run)"
		echo "the range is not about 33 ms"
		exit 1
	}
fi
