# Advice that is cut off, by its time or by Ctrl-C, keeps what was proved, and leaves neither processes nor files.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'echo "line $LINENO: $BASH_COMMAND"; cat said 2>/dev/null' ERR
cd "$work"
mkdir tmp
export TMPDIR=$work/tmp

# Whether all that was started has gone.
gone() { [[ -z $(ls tmp) ]] && ! pgrep -f "$work/tmp" >/dev/null; }

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
"$TAILBACK" advise long.db -q --jobs 1 --seeds 20 --time 0.2s 2>said || code=$?
[[ $code == 1 ]]
grep -q 'stopped before the run as it was had been replayed' said
gone

# After the first replays have ended.
"$TAILBACK" advise long.db --jobs 1 --seeds 1 --exact -f json -o part.json 2>said &
pid=$!
until [[ -e tmp/$(ls tmp)/1.db ]]; do kill -0 $pid; sleep 0.05; done 2>/dev/null
kill -INT $pid
code=0
wait $pid || code=$?
[[ $code == 1 ]]
grep -q 'stopped' said
python3 - <<'END'
import json
whole, part = json.load(open("whole.json")), json.load(open("part.json"))
assert all(c["verdict"] in ("helps", "harms", "no difference", "unclear") for c in whole["changes"])
assert whole["seeds"] == 2 and part["seeds"] == 1
assert any(c["verdict"] == "not tried" for c in part["changes"])
assert "no time" in part["answer"]
gains = [c["run_gain_percent"] for c in whole["changes"]]
assert gains == sorted(gains, reverse=True), gains
END
gone
