#!/bin/bash
# --recorded-on states the network of a trace of calls: it is replayed there too, and compared with
# what was recorded, and measured times lie in the range that follows from both.
# judge_range.py --traces judges all of them.
set -euo pipefail
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"

fail() {
	echo "$1"
	exit 1
}

# refused SENTENCE ARGUMENT...: exit 2, the sentence, no store.
refused() {
	local code=0
	"$TAILBACK" replay "${@:2}" -o no.db 2> said.txt || code=$?
	[[ $code == 2 && ! -e no.db ]] || fail "exit $code: $(cat said.txt)"
	grep -q -- "$1" said.txt || fail "$(cat said.txt)"
}
for host in {0..7}; do echo "s $host h$host 0"; done > eight.edges
on=(--recorded-on "ethernet,rate=20Mbit/s")
capture=$TB_SOURCE/tests/data/alltoall16.pcap.zst
refused 'expected one trace of calls with their times' "$capture" -n ethernet "${on[@]}"
refused 'expected one trace of calls with their times' "$TB_SOURCE/tests/data/binary_tree_32.goal" -n ethernet "${on[@]}"
refused 'recorded-on does not go with --no-check' "$capture" --closed-loop --no-check -n ethernet "${on[@]}"
refused 'has 8 nodes, but rank 8 is on node 8' "$capture" --closed-loop -n ethernet --recorded-on eight.edges,preset=ethernet

# A capture, too: at the rate that is stated, not the one that its frames show.
"$TAILBACK" replay "$capture" --closed-loop -n ethernet --recorded-on ethernet,rate=123456789B/s -o run.db 2> said.txt
grep -q '^check: at the captured 123.5 MB/s ' said.txt || fail "checked elsewhere: $(cat said.txt)"
[[ $(sqlite3 run.db "SELECT options LIKE '%--recorded-on ethernet,rate=123456789B/s%' FROM run") == 1 ]] ||
	fail "the stated network has no part in it: $(cat said.txt)"

# The hosts that made the trace are those of both networks: on one and the same the check is the replay.
"$TAILBACK" replay "$TB_SOURCE/tests/real/data/kineto/hta-nccl_data.json.gz" --clone-ranks 16 --per-node 8 -n ib-ndr \
	--recorded-on ib-ndr -o hosts.db 2> said.txt
[[ $(sqlite3 hosts.db 'SELECT c.simulated_ps = r.simulated_ps FROM recorded_job AS r JOIN capture_check AS c USING (run)') == 1 ]] ||
	fail "the check has other hosts: $(cat said.txt)"

traces=$TB_SHARED/data/whatif2/traces
if [[ ! -d $traces ]]; then
	echo "skipped: $traces is not here, with traces of programs and how long they took"
	exit 77
fi
. "$TB_SOURCE/tests/support/real_input.sh"

# hold TRACE RECORDED RATE SECONDS: as measured, with what the trace has before.
hold() {
	there "whatif2/traces/$1.tbt" || return 0
	rm -f run.db
	"$TAILBACK" replay "$traces/$1.tbt" -n "ethernet-shaped,rate=$3Mbit/s" --recorded-on "ethernet-shaped,rate=$2Mbit/s" -o run.db 2> said.txt
	[[ $(sqlite3 run.db "SELECT $4 * 1e12 BETWEEN least_ps AND most_ps AND simulated_ps BETWEEN least_ps AND most_ps AND
		most_ps - least_ps < simulated_ps FROM run JOIN run_range USING (run)") == 1 ]] ||
		fail "$1 at $3 Mbit/s took $4 s: $(cat said.txt)"
	head -n 1 said.txt | grep -q 'probably' || fail "the check is within 10 %, but: $(cat said.txt)"
	grep -q '^check: on the network on which it was recorded, of .* a port, the replay takes' said.txt ||
		fail "nothing on the check: $(cat said.txt)"
	"$TAILBACK" report --full run.db > report.txt
	grep -q 'By what was recorded the run takes between' report.txt || fail "the report has no range"
}
hold wave8_20m 20 100 1.02
hold wave8_100m 100 10 8.10
hold pipe8_100m 100 20 3.22
