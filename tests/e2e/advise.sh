# Advice that is cut off, by its time or by Ctrl-C, keeps what was proved, and leaves neither processes nor files.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'echo "line $LINENO: $BASH_COMMAND"; cat said 2>/dev/null' ERR
cd "$work"
mkdir tmp
export TMPDIR=$work/tmp

# Whether all that was started has gone: no file is left, and no process of the program in this folder.
gone() {
	local exe
	[[ -z $(ls tmp) ]] || return 1
	{ find /proc -maxdepth 2 -name exe -lname "$(readlink -f "$TAILBACK")" 2>/dev/null || true; } | while read -r exe; do
		[[ $(readlink "${exe%exe}cwd") != "$work" ]] || return 1
	done
}

"$TAILBACK" synth bit-reversal --nodes 16 --message 16K --messages 2 -o job.goal
"$TAILBACK" replay job.goal -n qsnet,levels=2 -q -o run.db
"$TAILBACK" advise run.db --seeds 2 -f json >whole.json
gone
[[ $(sqlite3 run.db 'SELECT count(*) FROM run') == 1 ]] # the store stays as it is

# A run of which one replay takes long.
for messages in 20 80 320 1280; do
	"$TAILBACK" synth bit-reversal --nodes 64 --message 64K --messages $messages -o long.goal
	rm -f long.db
	started=$(date +%s%N)
	"$TAILBACK" replay long.goal -q -o long.db
	took=$(($(date +%s%N) - started))
	((took < 2000000000)) || break
done
code=0
"$TAILBACK" advise long.db --jobs 1 --seeds 20 --time 0.2s 2>said || code=$?
[[ $code == 1 ]]
grep -q 'stopped before the run as it was had been replayed, which takes longer than --time (it took' said
grep -q 'note: the run took .* replays like it, 1 at once, take about .*; --time stops them before' said
gone

# After the run as it was and two changes have been replayed: such as cost nothing.
"$TAILBACK" advise long.db --jobs 1 --seeds 1 --exact -f json -o part.json 2>said &
pid=$!
until [[ -e tmp/$(ls tmp)/3.db ]]; do kill -0 $pid; sleep 0.05; done 2>/dev/null
kill -INT $pid
code=0
wait $pid || code=$?
[[ $code == 1 ]]
grep -q 'stopped' said
# What was proved by then is kept.
[[ $(sqlite3 long.db 'SELECT count(*) FROM tried') -gt 0 ]]
python3 - <<'END'
import json
whole, part = json.load(open("whole.json")), json.load(open("part.json"))
assert all(c["verdict"] in ("helps", "harms", "no difference", "unclear") for c in whole["changes"])
assert whole["seeds"] == 2 and part["seeds"] == 1
assert any(c["verdict"] == "not tried" for c in part["changes"])
assert "no time" in part["answer"]
assert all(c["verdict"] == "not tried" for c in part["changes"] if c["needs_hardware"]), part
# What helps and costs nothing is first, then what helps and needs hardware, then the rest; best first in each.
order = [(c["verdict"] != "helps", c["verdict"] == "helps" and c["needs_hardware"], -c["run_gain_percent"]) for c in whole["changes"]]
assert order == sorted(order), order
END
gone

# A button that proves it: report --try keeps what the findings' proposals gain, and tells it.
sqlite3 run.db 'DELETE FROM tried'
"$TAILBACK" report --full run.db --try >tried.txt 2>said
grep -q 'Tried, this ' tried.txt
(($(sqlite3 run.db 'SELECT count(*) FROM tried') <= 8))
"$TAILBACK" report --full run.db >told.txt
cmp tried.txt told.txt
# A later start by which a job ends sooner costs nothing, as in the advice: what gains most is first.
cp run.db sooner.db
sqlite3 sooner.db "DELETE FROM tried; INSERT INTO tried SELECT run, 'tailback replay ' || column1, column2, 'helps', 'run time', NULL, 2, column3, 10, 0
	FROM run, (VALUES ('a', 'b starts 1 us later, ends 2 us sooner', 60000), ('b', 'placement=x', 50000))"
[[ $("$TAILBACK" report --full sooner.db | grep -o 'starts 1 us\|placement=x' | head -1) == 'starts 1 us' ]]
rm job.goal
"$TAILBACK" report --full run.db --try >again.txt 2>said # there is nothing to replay: the report is the same
grep -q 'note: nothing was tried' said
cmp again.txt told.txt
gone

# Of long messages the fluid model chooses; what it leaves out would not have helped. Where it is off, it does not.
"$TAILBACK" synth bit-reversal --nodes 64 --message 8M --messages 5 -o bits.goal
"$TAILBACK" replay bits.goal -n ib-hdr,arity=8,levels=2 -q --no-bounds -o bits.db
"$TAILBACK" advise bits.db -q --no-keep --seeds 1 -f json >chosen.json
"$TAILBACK" advise bits.db -q --no-keep --seeds 1 --exact -f json >exact.json
"$TAILBACK" synth uniform --nodes 64 --message 2M --messages 4 -o any.goal
"$TAILBACK" replay any.goal -n qsnet -q --no-bounds -o any.db
"$TAILBACK" advise any.db -q --no-keep --seeds 1 -f json >off.json
python3 - <<'END'
import json
chosen, exact, off = (json.load(open(f + ".json")) for f in ("chosen", "exact", "off"))
verdicts = {c["change"]: c["verdict"] for c in exact["changes"]}
out = [c for c in chosen["changes"] if c["verdict"] == "no gain foreseen"]
assert out and all(verdicts[c["change"]] != "helps" for c in out), out
assert "foresees no gain of %d" % len(out) in chosen["screening"], chosen["screening"]
assert all(c["foreseen_gain_percent"] < 0.5 and c["run_gain_percent"] is None for c in out)
assert chosen["changes"][0]["change"] == exact["changes"][0]["change"]
assert exact["screening"] == ""
assert "chooses nothing" in off["screening"]
assert all(c["verdict"] != "no gain foreseen" for c in off["changes"] + exact["changes"])
assert all(c["foreseen_gain_percent"] is None for c in off["changes"]) # too far off to be told
END
