# Advice is never void: what cannot change anything is neither proposed nor replayed, what two changes gain together is found,
# what costs nothing stands before hardware, and what harms a job says so.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'echo "line $LINENO: $BASH_COMMAND"' ERR
cd "$work"

# Two leaves of 4 hosts with one cable up each: packets have one way, and other routes change nothing.
for node in 0 1 2 3; do echo "leaf0 $((node + 1)) n$node 1 100Gbit/s 250ns"; done >one.edges
for node in 4 5 6 7; do echo "leaf1 $((node - 3)) n$node 1 100Gbit/s 250ns"; done >>one.edges
printf 'leaf0 5 spine 1 200Gbit/s 250ns\nleaf1 5 spine 2 200Gbit/s 250ns\n' >>one.edges
cp one.edges two.edges
printf 'leaf0 6 spine 3 200Gbit/s 250ns\nleaf1 6 spine 4 200Gbit/s 250ns\n' >>two.edges
{
	echo 'num_ranks 8'
	for node in 0 1 2 3; do printf 'rank %d {\nl1: send 1048576b to %d tag 0\n}\n' $node $((node + 4)); done
	for node in 4 5 6 7; do printf 'rank %d {\nl1: recv 1048576b from %d tag 0\n}\n' $node $((node - 4)); done
} >pairs.goal
for ways in one two; do
	"$TAILBACK" replay -q pairs.goal -n $ways.edges,preset=roce-100 -o $ways.db
	"$TAILBACK" report $ways.db -f json >$ways.report
	"$TAILBACK" advise $ways.db -q --seeds 1 --no-keep -f json >$ways.json
done

# Neighbours that were placed at random: whole leaves help, a second rail helps, both help most.
"$TAILBACK" synth neighbour --nodes 32 --message 1M --messages 4 -o near.goal
"$TAILBACK" replay -q --job near.goal,placement=random -n 'ib-hdr,shape=pgft(2;8,4;1,2;1,1)' -o near.db
"$TAILBACK" advise near.db -q --seeds 2 -f json >near.json
"$TAILBACK" report near.db -f json >near.report

# Its ideal is 0.1 % away: no change between the switches is replayed.
"$TAILBACK" synth stencil --nodes 64 --message 256K --messages 4 -o stencil.goal
"$TAILBACK" replay -q stencil.goal -n ib-hdr -o stencil.db
"$TAILBACK" advise stencil.db -q --seeds 1 --no-keep -f json >stencil.json
# By other ways up one job gains what the other loses.
"$TAILBACK" synth alltoall --nodes 16 --size 64K -o a.goal
"$TAILBACK" synth bit-reversal --nodes 32 --message 128K --messages 3 -o b.goal
"$TAILBACK" replay -q --job a.goal,nodes=0-15,name=A --job b.goal,nodes=16-47,name=B \
	-n roce-100,arity=4,levels=3,ascent=deterministic -o two.db
"$TAILBACK" advise two.db -q -f json >two.json
"$TAILBACK" report two.db -f json >two.report
python3 - <<'END'
import json
load = lambda name: json.load(open(name))
def changes(name): return {c["change"]: c for c in load(name)["changes"]}
def rules(name): return [f["rule"] for f in load(name)["findings"]]

assert "another-ascent" not in rules("one.report") and "another-ascent" in rules("two.report")
other_ways = {"ascent", "another-ascent", "routes-by-traffic"}
assert not other_ways & {c["rule"] for c in changes("one.json").values()}
assert other_ways & {c["rule"] for c in changes("two.json").values()}

near = changes("near.json")
both, block, rails = (near[c]["run_gain_percent"] for c in ("placement=block + rails=2", "placement=block", "rails=2"))
assert both > max(block, rails) + 1, (both, block, rails)
assert near["rails=2"]["needs_hardware"] and near["placement=block + rails=2"]["needs_hardware"]
helps = [c["needs_hardware"] for c in load("near.json")["changes"] if c["verdict"] == "helps"]
assert helps == sorted(helps) and False in helps and True in helps, helps
assert "With new hardware, placement=block + rails=2" in load("near.json")["answer"]
tried = [f["sentence"] for f in load("near.report")["findings"] if f["rule"] in ("best-tried", "second-rail")]
assert "rails" not in tried[0], tried

stencil = changes("stencil.json")
out = {c for c in stencil if stencil[c]["verdict"] == "cannot help"}
assert {"ascent=adaptive", "ascent=ecmp"} <= out, out
assert "on an ideal network" in stencil["ascent=ecmp"]["reason"]

two = load("two.json")
for c in two["changes"]:
    of_a, of_b = (float(w.split(" ")[1].replace("=", "0")) for w in (c["by_job"] or "A 0 %, B 0 %").split(", "))
    assert abs((of_a + of_b) / 2 + c["job_gain_percent"]) < 0.11, c
    if c["verdict"] == "helps" and of_a > 0.6:
        assert c["change"].endswith(", which harms A by %.1f %%" % of_a), c
helps = [c for c in two["changes"] if c["verdict"] == "helps"]
assert any("harms" in c["change"] for c in helps) and "A by 5.0 %: jobs take" in two["answer"], two["answer"]
assert all(c["needs_hardware"] for c in helps if "harms" not in c["change"]), helps # or they would be first
# Findings keep the order and the figures of the advice.
before = lambda command: command.split(" -o ")[0]
told = [f for f in load("two.report")["findings"] if "gain_percent" in json.dumps(f.get("figures", f)) and f.get("command")]
order = {before(c["command"]): (i, c) for i, c in enumerate(helps)}
places = [order[before(f["command"])][0] for f in told]
assert len(told) > 3 and places == sorted(places) and places[0] == 0, places
for f in told:
    c = order[before(f["command"])][1]
    assert "run time of jobs %+.1f %%" % -c["job_gain_percent"] in f["sentence"], (f, c)
    assert ("harms A" in c["change"]) == ("harms A" in f["sentence"]), (f, c)
END
