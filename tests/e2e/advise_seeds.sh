# Where a replay does not depend on its seed, advise replays one for all seeds, and reports the same.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'echo "line $LINENO: $BASH_COMMAND"' ERR
cd "$work"

"$TAILBACK" synth uniform --nodes 32 --message 64K --messages 150 -o job.goal
"$TAILBACK" replay job.goal -n ib-hdr,arity=32,levels=1,ascent=deterministic -q -o run.db

for seeds in 1 16; do
	"$TAILBACK" advise run.db -q --no-keep --exact --seeds $seeds -f json >$seeds.json
	times >all # of all children so far
	tail -1 all >>took
done

python3 - <<'END'
import json, re
one, many = ({c["change"]: c for c in json.load(open(f"{n}.json"))["changes"]} for n in (1, 16))
kept = [name for name, c in many.items() if c["seeds"] == 16 and c["run_gain_half_percent"] == 0]
assert kept, many
for name in kept:
    for gain in "run", "latency", "wait":
        assert many[name][f"{gain}_gain_percent"] == one[name][f"{gain}_gain_percent"], name
took = [sum(60 * float(m) + float(s) for m, s in re.findall(r"(\d+)m([\d.]+)s", line)) for line in open("took")]
assert took[1] - took[0] < 4 * took[0], took # sixteen replays of each change take far longer
END
