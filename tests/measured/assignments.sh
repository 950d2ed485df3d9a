#!/usr/bin/env bash
# How much more shared than dedicated I/O nodes take depends on which sender has which of them, which
# paper 000 does not state: senders take turns over the nodes (as io.fixed.clustered.* do), in blocks,
# or in turns from the last one on. Prints MB/s into an I/O node, shared and dedicated, and the gain.
#   TAILBACK=PROGRAM assignments.sh
set -euo pipefail
tailback=$(realpath "${TAILBACK:-tailback}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# rate HOW SENDERS: of the payload in packets of 320 of 378 bytes, from 20 ms to 60 ms.
rate() {
	awk -v how="$1" -v n="$2" 'BEGIN {
		print "Nodes 64\nConnections " n
		for (i = 0; i < n; i++) {
			to = how == "turns" ? i % 8 : how == "blocks" ? int(i * 8 / n) : 7 - i % 8
			if (56 + to == i) to = (to + 1) % 8
			print i "->" 56 + to " id " i + 1 " start 0 size 8000000"
		}
	}' >flows.cm
	rm -f run.db
	"$tailback" replay flows.cm -n qsnet -q --no-blame --bin 20ms -o run.db >/dev/null
	sqlite3 run.db "SELECT sum(b.bytes) * 320 / 378 / 8 / 0.04 / 1e6 FROM link_bin AS b JOIN link AS l
		ON l.run = b.run AND l.link = b.link WHERE l.kind = 'ejection' AND b.bin IN (1, 2)"
}

for how in turns blocks reversed; do
	shared=$(rate "$how" 64)
	dedicated=$(rate "$how" 56)
	awk -v how="$how" -v a="$shared" -v b="$dedicated" 'BEGIN {
		printf "%-9s %5.1f %5.1f %+5.1f\n", how, a, b, a - b }'
done
