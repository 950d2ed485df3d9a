# Several seeds and several traces in one replay: the same rows as one after another, for any number
# of workers; what is wrong with one is said.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
. "$TB_SOURCE/tests/support/stores.sh"
"$TAILBACK" synth uniform --nodes 16 --message 16K --messages 5 -o a.goal
"$TAILBACK" synth shuffle --nodes 16 --message 16K --messages 5 -o b.goal
for trace in a b; do
	for seed in 1 2 3; do
		"$TAILBACK" replay $trace.goal -s $seed --bin 10us -q -o single.db
	done
done
"$TAILBACK" replay a.goal b.goal --each -s 1..3 --bin 10us --jobs 1 -q -o one.db
"$TAILBACK" replay a.goal b.goal --each -s 1..3 --bin 10us --jobs 5 -o five.db 2>said
for store in one five; do
	store_rows single.db >wanted
	store_rows $store.db >got
	cmp wanted got || { echo "$store.db differs from replays one by one"; exit 1; }
done
[[ $(grep -c '^run [1-6]: [ab].goal, seed [123]: simulated' said) == 6 ]] || { cat said; exit 1; }

# More runs go behind those that are there; a capture goes too.
"$TAILBACK" replay "$TB_SOURCE/tests/data/alltoall16.pcap.zst" a.goal --each -s 7,8 --jobs 2 -q -o one.db
[[ $(sqlite3 one.db 'SELECT group_concat(seed) FROM (SELECT seed FROM run WHERE run > 6 ORDER BY run)') == 7,8,7,8 ]]

# One bad trace: its sentence, exit code 1, and only whole runs in the store.
echo 'num_ranks 2' >bad.goal
echo 'rank 0 { l1: send 5b to 7 }' >>bad.goal
code=0
"$TAILBACK" replay a.goal bad.goal b.goal --each --jobs 1 -q -o bad.db 2>said || code=$?
[[ $code == 1 ]] && grep -q 'bad.goal:2: ' said || { cat said; exit 1; }
[[ $(sqlite3 bad.db 'SELECT count(*), min(complete) FROM run') == '1|1' ]]

# Ctrl-C keeps what there is.
"$TAILBACK" synth uniform --nodes 64 --message 1M --messages 15 -o long.goal
stop_midway INT stopped.db run "$TAILBACK" replay long.goal -s 1..8 --jobs 2 -q -o stopped.db 2>said
[[ $code == 1 ]] && grep -q 'stopped early: [0-9] of 8 runs' said || { echo "exit $code"; cat said; exit 1; }
[[ $(sqlite3 stopped.db 'PRAGMA integrity_check') == ok ]]
