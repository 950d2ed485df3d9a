# Where a replay does not depend on its seed, advise replays one for all seeds, and reports the same. Where luck decides,
# its figures are those of the means, each like the others and like those of compare, and unclear ones get more seeds.
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

# Packets of A have the spines by luck, of B none: at some seeds A takes five times as long.
python3 - <<'END'
def goal(name, n, sends):
    with open(name, "w") as file:
        print("num_ranks", n, file=file)
        for rank in range(n):
            print("rank %d {" % rank, file=file)
            mine = ["%s %db %s %d tag %d" % (("send", size, "to", d, t) if s == rank else ("recv", size, "from", s, t))
                    for s, d, size, t in sends if rank in (s, d)]
            for i, line in enumerate(mine):
                print("l%d: %s" % (i + 1, line), file=file)
            print("}", file=file)
goal("a.goal", 8, [(s, s + 4, 1 << 20, s * 8 + i) for s in range(4) for i in range(8)])
goal("b.goal", 13, [(s, 12, 1 << 20, s * 8 + i) for s in range(12) for i in range(8)])
END
jobs=(--job 'a.goal,nodes=0-3,16-19,name=A' --job 'b.goal,nodes=4-15,24,name=B')
network='roce-400,shape=xgft(2; 8,4; 1,8)'
"$TAILBACK" replay "${jobs[@]}" -n "$network" -q -o luck.db
"$TAILBACK" advise luck.db -q --no-keep --for A -f json >luck.json
"$TAILBACK" advise luck.db -q --no-keep --for A --only findings -f json >unclear.json
"$TAILBACK" replay "${jobs[@]}" -n "$network" --seed 1..3 -q -o base.db
"$TAILBACK" replay "${jobs[@]}" -n "$network,ascent=adaptive" --seed 1..3 -q -o new.db
"$TAILBACK" compare base.db new.db -f json >luck.compare
python3 - <<'END'
import json
advice, compare = json.load(open("luck.json")), json.load(open("luck.compare"))
for c in advice["changes"]:
    if c["seeds"]:
        of_a = float(c["by_job"].split("A ")[1].split(" ")[0].replace("=,", "0"))
        assert abs(of_a + c["job_gain_percent"]) < 0.06, c # -17.6 % beside it would be +45 % by the pairs' own ratios
lucky = next(c for c in advice["changes"] if c["change"] == "ascent=adaptive")
a = next(r for r in compare["beyond_chance"] if r["kind"] == "job" and r["name"] == "A")
assert lucky["verdict"] == "unclear" and not a["differs"], (lucky, a)
assert abs(lucky["job_gain_percent"] - 100 * (1 - a["b_ps"] / a["a_ps"])) < 1e-6, (lucky, a)
# Unclear after three seeds, clear after more.
(rails,) = json.load(open("unclear.json"))["changes"]
assert rails["verdict"] == "helps" and rails["seeds"] > 3 and not rails["unsteady"], rails
END
