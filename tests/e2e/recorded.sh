# What a trace recorded stands beside the replay: in info, the store, the report; and a closed loop
# is replayed at the captured rate, too.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

fail() {
	echo "$*" >&2
	exit 1
}

# Two tasks: one sends 4 KiB from 100 to 160 ns, the other receives from 10 to 300 ns.
printf '#Paraver (01/01/2026 at 00:00):1000_ns:2(1,1):1:2(1:1,1:2)\n' >t.prv
printf '2:1:1:1:1:100:50000001:1\n2:1:1:1:1:160:50000001:0\n' >>t.prv
printf '2:2:1:2:1:10:50000001:2\n2:2:1:2:1:300:50000001:0\n' >>t.prv
printf '3:1:1:1:1:100:100:2:1:2:1:10:300:4096:7\n' >>t.prv

"$TAILBACK" info --json t.prv >info.json
python3 - <<'END'
import json
recorded = json.load(open("info.json"))["recorded"]
kinds = {k["kind"]: k for k in recorded["kinds"]}
assert recorded["run_ps"] == 300_000, recorded
assert kinds["send"]["sum_ps"] == 60_000 and kinds["send"]["bytes"] == 4096, kinds
assert kinds["recv"]["median_ps"] == 290_000, kinds
assert [r["end_ps"] for r in recorded["ranks"]] == [160_000, 300_000], recorded
assert abs(recorded["ranks"][1]["percent"] - 100 * 290 / 300) < 0.01, recorded
END

"$TAILBACK" replay -q t.prv -n ib-edr -o run.db
# The receive begins 10 ns after the start, and lasts until the message has come.
[[ $(sqlite3 run.db "SELECT simulated_end_ps - simulated_ps FROM recorded_rank WHERE rank = 1") == 10000 ]] ||
	fail "the receive does not begin after 10 ns"
[[ $(sqlite3 run.db "SELECT count(*) FROM recorded_kind WHERE calls <> simulated_calls") == 0 ]] ||
	fail "not all calls were replayed"
"$TAILBACK" report --full run.db >report.txt
grep -q 'recorded *300 ns until the last call returned, simulated .*; the trace does not say on which network' report.txt || fail "$(cat report.txt)"
# A run goes on while its ranks compute after the last message: it has one time.
"$TAILBACK" replay -q "$TB_SOURCE/tests/real/data/otf2/sstmacro-10" -n ib-hdr -o late.db
"$TAILBACK" report late.db >late.txt
run=$(sed -n '1s/.*: //p' late.txt)
tr '\n' ' ' <late.txt | grep -q "simulated $run (" || fail "$(cat late.txt)"
grep -q '^Recorded and simulated by rank' report.txt || fail "no table by rank"
"$TAILBACK" report run.db -f csv --list recorded-calls >calls.csv; grep -q '^0,recv,1,4096,290000,1,' calls.csv || fail "no row of receives"

capture=$TB_SOURCE/tests/data/alltoall16.pcap.zst
"$TAILBACK" replay "$capture" --closed-loop -n ethernet -o loop.db 2>loop.txt
sed -n 2p loop.txt | grep -q '^check: at the captured .* the replay takes ' || fail "$(cat loop.txt)"
[[ $(sqlite3 loop.db "SELECT count(*) FROM capture_check") == 1 ]] || fail "the check is not kept"
"$TAILBACK" report --full loop.db >loop_report.txt
grep -q 'checked *at the captured' loop_report.txt || fail "the report lacks the check"
"$TAILBACK" replay "$capture" --closed-loop --no-check -n ethernet -o not.db 2>not.txt
! grep -q '^check: ' not.txt || fail "--no-check checks"
[[ $(sqlite3 not.db "SELECT count(*) FROM capture_check") == 0 ]] || fail "--no-check keeps a check"
# This capture's replay is too quick by a tenth: the answer may be longer, and the first line says so.
head -n 1 loop.txt | grep -q 'at the captured rate it is .* quicker than what was captured' || fail "the check is not in the first line"
[[ $(sqlite3 loop.db "ATTACH 'not.db' AS plain; SELECT is_checked.most_ps > unchecked.most_ps * 1.05
	FROM main.run_range AS is_checked, plain.run_range AS unchecked") == 1 ]] ||
	fail "the check's error is not in the range"
# Of several seeds each run is checked, and its range as wide but for the seed of its replays.
"$TAILBACK" replay -q "$capture" --closed-loop -n ethernet -s 1,2 -o seeds.db
[[ $(sqlite3 seeds.db "ATTACH 'loop.db' AS one; SELECT count(*) || sum(g.run = 1 AND g.least_ps = o.least_ps AND g.most_ps = o.most_ps)
	FROM main.run_range AS g, one.run_range AS o
	WHERE abs(g.least_ps - o.least_ps) < 0.01 * o.least_ps AND abs(g.most_ps - o.most_ps) < 0.01 * o.most_ps") == 21 ]] || fail "ranges of several seeds differ"
[[ $(sqlite3 seeds.db "SELECT count(*) FROM capture_check") == 2 ]] || fail "several seeds are not checked"
"$TAILBACK" replay -q "$capture" --closed-loop --no-check -n ethernet -s 1,2 -o unchecked.db
[[ $(sqlite3 unchecked.db "SELECT count(*) FROM capture_check") == 0 ]] || fail "--no-check checks several seeds"

# Two networks beside what was recorded.
"$TAILBACK" replay -q t.prv -n ib-qdr -o run.db
"$TAILBACK" compare --full run.db >compare.txt
grep -q '^Recorded and simulated' compare.txt || fail "$(cat compare.txt)"
grep -q 'whole run *300 ns' compare.txt || fail "$(cat compare.txt)"

# By rank: 60 of 160 ns in the send, 290 of 300 in the receive, beside both runs, as in the report of one.
"$TAILBACK" compare run.db -f json >ranks.json
"$TAILBACK" report run.db -f json >rank.json
python3 - <<'END'
import json
both, one = json.load(open("ranks.json"))["recorded_ranks"], json.load(open("rank.json"))["recorded_ranks"]
assert [(r["rank"], r["recorded_end_ps"], r["recorded_ps"]) for r in both] == \
	[(0, 160_000, 60_000), (1, 300_000, 290_000)], both
assert abs(both[0]["recorded_call_percent"] - 37.5) < 1e-9, both
for a, b in zip(both, one):
	for key in b:
		to = key.replace("simulated", "simulated_b").replace("change", "change_b")
		assert key == "job" or abs(a[to] - b[key]) <= 1e-5 * abs(b[key]), (key, a, b)
assert both[1]["change_a_percent"] > 100, both
assert any(r["simulated_a_end_ps"] != r["simulated_b_end_ps"] for r in both), both
END
"$TAILBACK" compare --full run.db | grep -q '^Recorded and simulated by rank' || fail "compare has no table by rank"

# What a call that only starts takes is not modelled: it has no simulated time, and stands in no sum.
sed 's/50000001:1$/50000001:3/' t.prv >start.prv
"$TAILBACK" replay -q start.prv -n ib-edr -o start.db
[[ $(sqlite3 start.db "SELECT recorded_ps, simulated_ps IS NULL FROM recorded_kind WHERE kind = 'isend'") == '60000|1' ]] ||
	fail "a send that only starts is compared"
[[ $(sqlite3 start.db "SELECT calls, recorded_ps FROM recorded_rank WHERE rank = 0") == '0|0' ]] || fail "it is in the sums"
"$TAILBACK" report --full start.db | grep -q '^  isend  *1  *4 KiB  *60 ns  *-  *-  *60 ns  *-$' || fail "it is not listed"

# Each run is held against its own recording: this one took 900 ns, with a send as long as the other's.
sed 's/:300:/:900:/' t.prv >slow.prv
"$TAILBACK" replay -q slow.prv -n ib-edr -o run.db
"$TAILBACK" compare run.db --run 1 --run 3 -f json | python3 -c '
import json, sys
rows = [(r["what"], r["recorded_ps"], r["simulated_a_ps"] is None, r["simulated_b_ps"] is None)
	for r in json.load(sys.stdin)["recorded"]]
assert ("whole run", 300_000, False, True) in rows and ("whole run", 900_000, True, False) in rows, rows
assert ("send", 60_000, False, False) in rows and len(rows) == 5, rows' || fail "runs share a recording that is not theirs"

# The viewer has both, and the scatter with the axis of what was recorded.
printf 'key F9\nexpect Recorded and simulated\nexpect Simulated: full squares\nkey F4\nexpect By rank\ndump lists\n' |
	SDL_VIDEODRIVER=dummy "$TAILBACK" view run.db --script - || fail "the viewer lacks what was recorded"
[[ $(grep -E '"(Links|Compared|By call|By rank|Bounds|Path|Flows)"$' lists | cut -d' ' -f3 | sort -u | wc -l) == 1 ]] ||
	fail "the names of lists take more than a line"
"$TAILBACK" report run.db -f html >page.html; grep -q 'id="scatter"' page.html || fail "the page lacks the scatter"
