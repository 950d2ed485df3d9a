# Incasts as findings: a short one in a long run counts by its window, servers that are hit at once are one finding, and
# the viewer opens a run of a single switch on its findings.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'echo "line $LINENO: $BASH_COMMAND"; cat findings 2>/dev/null' ERR
cd "$work"
export SDL_VIDEODRIVER=dummy

# 64 ranks exchange data, pause, and then eight send something to rank 9.
python3 - >burst.goal <<'END'
ranks = 64
turned = lambda i: int(f"{i:06b}"[::-1], 2)
print(f"num_ranks {ranks}")
for i in range(ranks):
    print(f"rank {i} {{")
    if turned(i) != i:
        for k in range(8):
            print(f"s{k}: send 65536b to {turned(i)} tag {k}")
            print(f"r{k}: recv 65536b from {turned(i)} tag {k}")
        print("c: calc 3000000\nc requires r7")
    else:
        print("c: calc 6000000")
    if i < 8:
        print("b: send 32768b to 9 tag 99\nb requires c")
    if i == 9:
        for k in range(8):
            print(f"b{k}: recv 32768b from {k} tag 99")
    print("}")
END
"$TAILBACK" replay burst.goal -n qsnet -q -o burst.db
"$TAILBACK" report --full burst.db >burst.txt
sed -n '/^Findings/,/^Worth/p' burst.txt >findings
grep -Eq 'Incast at node 9: 8 nodes sent to it .* causes ([5-9]|1[0-9])(\.[0-9])? % of all wait, and (100|[5-9][0-9]|more than 99) % of the wait in that time' findings

"$TAILBACK" synth io-random --nodes 64 --message 64K --messages 8 --io-nodes 4 -o servers.goal
"$TAILBACK" replay servers.goal -n ib-hdr -q -o servers.db
"$TAILBACK" report --full servers.db >servers.txt
sed -n '/^Findings/,/^Worth/p' servers.txt >findings
grep -q 'Incast at [34] nodes at once: node 6[0-3] (' findings
[[ $(grep -c 'Incast at' findings) == 1 ]]

"$TAILBACK" synth hot-spot --nodes 24 --message 16K --messages 4 -o one.goal
"$TAILBACK" replay one.goal -n ib-hdr,levels=1,arity=24 -q -o one.db
echo 'expect Incast at node 0' | "$TAILBACK" view one.db --script -
echo 'refuse Incast at' | "$TAILBACK" view servers.db --script -
# The panel of the hottest link answers at once: who waited for it, for whom, since when, and what to try.
printf '%s\n' 'key F2' 'key n' 'expect who waited for it, for whom' 'expect  for ' 'expect Waited without rest' 'await worth trying first; F9 shows all' \
	'key F7' 'expect 0.0 > node 0' 'expect these waits' | "$TAILBACK" view one.db --script -

# Whatever the switching, and wherever the queue stands: an incast lasts as long as its link never rests and three nodes send.
python3 - >uneven.goal <<'END'
sizes = [395529, 23750, 148922, 397801, 281110, 154596, 205797, 56387, 447231, 121018, 265002]
print("num_ranks 16")
for rank in range(16):
    print(f"rank {rank} {{")
    for i, size in enumerate(sizes):
        if rank == 13:
            print(f"r{i}: recv {size}b from {i} tag {i}")
        if rank == i:
            print(f"s: send {size}b to 13 tag {i}")
    print("}")
END
for network in qsnet,levels=2 qsnet,levels=2,switching=fluid {ib-hdr,roce-100},arity=4,levels=2{,\,switching=fluid} \
    ib-hdr,arity=8,levels=2 ethernet; do
    rm -f uneven.db
    "$TAILBACK" replay --job uneven.goal,placement=cyclic -n "$network" -q -o uneven.db 2>/dev/null
    "$TAILBACK" report uneven.db -f json >uneven.json
    python3 - "$network" <<'END' >findings
import json, sqlite3, sys

found = [f for f in json.load(open("uneven.json"))["findings"] if f["rule"] == "incast"]
print(sys.argv[1], found)
figures = found[0]["figures"]
messages = sqlite3.connect("uneven.db").execute("SELECT started_ps, delivered_ps FROM message").fetchall()
first, last = min(m[0] for m in messages), sorted(m[1] for m in messages)[-3]
print(first, last)
assert abs(figures["begin_ps"] - first) <= (last - first) / 20, "begin"
assert figures["end_ps"] >= last - (last - first) / 20, "end"
assert figures["end_ps"] - figures["begin_ps"] >= figures["cost_ps"], "cost"
END
done

# Three send to one, and their routes meet one hop before its link: an incast all the same. Not where that hop is slower.
{
    printf 'num_ranks 16\nrank 0 {\n'
    for i in 4 8 12; do printf 'r%s: recv 1048576b from %s tag 0\n' $i $i; done
    printf '}\n'
    for i in 4 8 12; do printf 'rank %s {\ns: send 1048576b to 0 tag 0\n}\n' $i; done
} >hop.goal
"$TAILBACK" replay hop.goal -n ib-hdr,arity=4,levels=2 -q -o hop.db
"$TAILBACK" report --full hop.db >hop.txt
sed -n '/^Findings/,/^Worth/p' hop.txt >findings
grep -q 'Incast at node 0: 3 nodes sent to it .*queue reaches back to 1.0:0 > 0.0:4' findings
refuse() { ! grep -q "$@"; }
refuse 'Hot spot' findings
"$TAILBACK" replay hop.goal -n 'ib-hdr,arity=4,levels=2,level_rates=25GB/s 12GB/s' -q -o slow_hop.db
"$TAILBACK" report --full slow_hop.db >hop.txt
sed -n '/^Findings/,/^Worth/p' hop.txt >findings
grep -q 'Hot spot: the single link 1.0:0 > 0.0:4' findings

# What a fluid holds up among a thousand flows of one link is at that link.
"$TAILBACK" replay "$TB_SHARED/data/flows/uet-incast_1024_100K.cm" -n roce-100,arity=16,levels=3,switching=fluid -q -o thousand.db
"$TAILBACK" report --full thousand.db >findings
grep -Eq 'Packets to it held up the end of the run for [78]\.' findings
refuse 'at no known link' findings
