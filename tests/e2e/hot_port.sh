#!/usr/bin/env bash
# An incast is told as the one port before which the queue stands, in every list and by the
# gate, where packets queue at outputs; --wait shows the links by which they came.
set -euo pipefail
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
{
	echo "num_ranks 12"
	echo "rank 0 {"
	for ((i = 1; i < 12; i++)); do echo "l$i: recv 200000b from $i"; done
	echo "}"
	for ((i = 1; i < 12; i++)); do printf 'rank %d {\nl1: send 200000b to 0\n}\n' "$i"; done
} > incast.goal
for network in ethernet ib-hdr roce-100 ib-hdr,switching=fluid; do
	rm -f run.db
	"$TAILBACK" replay -q incast.goal -n "$network" -o run.db 2> /dev/null
	hottest=$(sqlite3 run.db "SELECT kind || ' ' || percent_of_wait || ' ' || leads FROM hot_links LIMIT 1")
	[[ $hottest == "ejection 100.0 for" ]] || { echo "$network: $hottest"; exit 1; }
	[[ $(sqlite3 run.db "SELECT count(*) FROM hot_links") == 1 ]]
	code=0
	"$TAILBACK" report --full run.db --fail-over 50 > text 2> error || code=$?
	[[ $code == 3 ]]
	grep -q "> node 0: wait for the link: " error
	grep -q "Hot links by wait for the link" text
	"$TAILBACK" report --full run.db --wait came-by > text
	grep -q "Hot links by wait of packets that came by it" text
	[[ $("$TAILBACK" report run.db --wait came-by -f csv | wc -l) == 12 ]]
	[[ $("$TAILBACK" report run.db -f csv | wc -l) == 2 ]]
done
"$TAILBACK" replay -q incast.goal -n qsnet -o qsnet.db
[[ $(sqlite3 qsnet.db "SELECT leads FROM run") == came-by ]]
"$TAILBACK" report --full qsnet.db > text
grep -q "Hot links by wait of packets that came by it" text
"$TAILBACK" report --full qsnet.db --wait for > text
grep -q "Hot links by wait for the link" text
