# Advice on where ranks sit: the files of what helps are kept, and replay as was proved; findings tell what was tried.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'echo "line $LINENO: $BASH_COMMAND"' ERR
cd "$work"

"$TAILBACK" synth allreduce --nodes 32 --size 1M --algorithm ring -o ring.goal
"$TAILBACK" replay --job ring.goal,placement=random -n ib-hdr,arity=4 --nodes 64 -q -o run.db
"$TAILBACK" report --full run.db -q >before.txt 2>/dev/null || "$TAILBACK" report --full run.db >before.txt
"$TAILBACK" advise run.db -q --no-keep --seeds 1 --write none -f json >/dev/null
[[ $(sqlite3 run.db 'SELECT count(*) FROM tried') == 0 ]]
"$TAILBACK" report --full run.db >after.txt
cmp before.txt after.txt

"$TAILBACK" advise run.db -q --write files -f json >advice.json
# What the commands of the advice replay takes as long as was proved, from the user's files.
python3 - <<'END' >commands
import json
advice = json.load(open("advice.json"))
seats = [c for c in advice["changes"] if c["rule"] in ("ranks-by-traffic", "nodes-by-traffic")]
assert len(seats) == 2 and all(c["verdict"] == "helps" for c in seats), seats
for c in seats:
    print(c["run_gain_percent"], c["command"].replace("new.db", c["rule"] + ".db"))
END
while read -r gain command; do
	eval "\"$TAILBACK\" ${command#tailback }" >/dev/null 2>&1
	store=${command##* }
	sqlite3 run.db "ATTACH '$store' AS new; SELECT 100.0 * (a.simulated_ps - b.simulated_ps) / a.simulated_ps
		FROM run AS a, new.run AS b" >got
	python3 -c "import sys; assert abs(float(sys.argv[1]) - float(sys.argv[2])) < 15 and float(sys.argv[2]) > 5, sys.argv" \
		"$gain" "$(cat got)"
done <commands
# A ring over leaves of four leaves each leaf once, so each message crosses one leaf at most.
[[ $(wc -l <files/ranks-by-traffic-0.map) == 32 ]]
[[ $(sort -k2,2n -u files/ranks-by-traffic-0.map | wc -l) == 32 ]]

"$TAILBACK" report --full run.db >told.txt
grep -q 'Tried, this helps: run time -' told.txt
"$TAILBACK" report run.db -f json | python3 -c '
import json, sys
rules = [f["rule"] for f in json.load(sys.stdin)["findings"]]
assert "best-tried" in rules, rules'
# Again: what was tried is no change of its own.
"$TAILBACK" advise run.db -q --seeds 1 -f json | python3 -c '
import json, sys
assert all(c["rule"] != "best-tried" for c in json.load(sys.stdin)["changes"])'

# A folder that cannot be made.
: >taken
code=0
"$TAILBACK" advise run.db -q --seeds 1 --write taken/it >/dev/null 2>said || code=$?
[[ $code != 0 ]] && grep -q "taken/it" said

# A try with fewer seeds does not replace one with more.
sqlite3 run.db 'SELECT DISTINCT seeds FROM tried' | grep -qx 3
[[ $(sqlite3 run.db 'SELECT min(seeds) FROM tried WHERE title LIKE "%traffic%" AND command LIKE "%files/%"') == 3 ]]

# Routes for another network's traffic are refused, whatever is written.
for format in lfts json; do
	code=0
	"$TAILBACK" network -n ib-ndr,ascent=deterministic --traffic run.db -f $format -o routes.$format 2>said || code=$?
	[[ $code == 2 && ! -e routes.$format ]] || { echo "$format: $code"; cat said; false; }
done
