# A host cable, a rack and an uplink below the speed of their peers are named as the reason, as is what another speed would come to; a
# comparison names the cables that changed; the routes of a fabric that is hardly tapered are no taper's fault.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'echo "line $LINENO: $BASH_COMMAND"; cat said 2>/dev/null' ERR
cd "$work"
refuse() { ! grep -q "$@"; }

# shellcheck source=tests/support/leaf_spine.sh
. "$TB_SOURCE/tests/support/leaf_spine.sh"
leaf_spine '' >good.edges
leaf_spine '/gpu5 /s/100Gbit/25Gbit/' >host.edges
leaf_spine '/leaf2 . gpu/s/100Gbit/50Gbit/' >rack.edges
leaf_spine '/leaf2 4 /s/100Gbit/25Gbit/' >uplink.edges
leaf_spine '/gpu/s/100Gbit/25Gbit/' >alike.edges
sed 's/gpu5 /nas /' host.edges >kinds.edges
sed 's/gpu\(5\|6\) /nas\1 /; /nas6/s/100Gbit/25Gbit/' host.edges >storage.edges
"$TAILBACK" synth allreduce --algorithm ring -n 16 --size 16M -o ring.goal
"$TAILBACK" synth alltoall -n 16 --size 512K -o all.goal
report_of() { # JOB FABRIC
	rm -f run.db
	"$TAILBACK" replay "$1.goal" -n "$2.edges" -q -o run.db
	"$TAILBACK" report run.db --full | sed -n '/^Findings/,/^Configuration/p' >said
}

# A cable: 30 rounds of 1 MiB take it 10.07 ms at 25 Gbit/s, 2.52 ms at 100, and headers on top.
report_of ring host
grep -q 'Slow cable: the cable of node 5 (gpu5) at leaf1 runs at 25 Gbit/s, its peers at 100 Gbit/s' said
grep -q 'It costs about 7\.6[0-9]* ms of 10\.[0-9]* ms: at 100 Gbit/s the run would take about 2\.5[0-9]* ms' said
grep -q 'Mend the slow cable: .* until it runs at 100 Gbit/s' said
grep -q 'no longer than on an idle one with the same slow cables' said
refuse 'Hot spot\|Few receive\|did not hold up' said
"$TAILBACK" report run.db >said
refuse 'did not hold up' said
# A rack.
report_of ring rack
grep -q 'Slow cables: 4 cables of nodes, all on leaf2, run at 50 Gbit/s, their peers at 100 Gbit/s' said
grep -q 'They cost 2\.4[0-9]* ms to 2\.[56][0-9]* ms of 5\.[0-9]* ms: at 100 Gbit/s the run would take 2\.5[0-9]* ms to 2\.6' said
# In an all-to-all many send to each node: that is not why the slow one makes them wait.
report_of all host
grep -q 'Slow cable: the cable of node 5 (gpu5)' said
refuse 'Incast' said
report_of all uplink
grep -q 'Slow cable: the cable of leaf2:4 > spine0:4 runs at 25 Gbit/s' said
# Less time than an ideal network takes is never promised.
"$TAILBACK" replay all.goal -n uplink.edges,ascent=adaptive -q -o adaptive.db
"$TAILBACK" report adaptive.db | tr '\n' ' ' >said
ideal=$(sed 's/.*ideal network [^.]* would take \([0-9.]* ms\).*/\1/' said)
grep -q "Slow cable: the cable of spine0:4 > leaf2:4 .* It costs 0\.0[0-9]* ms to 0\.39[0-9]* ms of 1\.0.* the run would take $ideal to " said
refuse 'comes to little beside' said
# Peers that are no quicker, and hosts of another kind, are not slow; the only one of its kind goes with all.
report_of ring alike
refuse 'Slow cable' said
report_of ring storage
refuse 'Slow cable' said
report_of ring kinds
grep -q 'Slow cable: the cable of node 15 (nas)' said
# An incast of a node that is sent more than the others is one, however slow its cable.
"$TAILBACK" synth hot-spot --nodes 16 --message 256K --messages 2 --hot 5 -o hot.goal
report_of hot host
grep -q 'Incast at node 5' said

# What differs are the cables, not where others wait for them.
for fabric in good rack host; do "$TAILBACK" replay ring.goal -n $fabric.edges -q -o $fabric.db; done
"$TAILBACK" compare good.db rack.db >said
grep -q 'cables *4 of them at 100 Gbit/s *at 50 Gbit/s' said
tr '\n' ' ' <said | grep -q '4 cables, all on leaf2, run at 50 Gbit/s in B, at 100 Gbit/s in A'
refuse 'changed most is spine' said
"$TAILBACK" compare host.db good.db >said
grep -q 'cables *gpu5 > leaf1 at 25 Gbit/s *at 100 Gbit/s' said

# Mended is tried by advise, in place of a link twice as fast; the report has it then.
"$TAILBACK" advise host.db --seeds 1 >said
grep -q '^Best is cable of gpu5 > leaf1 mended: 100 Gbit/s, as the peers: the run takes 7[34].* % less' said
refuse 'link of node 5 .*twice' said

# A fabric of which 1.02 times as much leads down as up: what its routes put on a link down holds it up, and no taper.
data=$TB_SOURCE/tests/data
"$TAILBACK" synth bit-reversal --nodes 512 --message 64K --messages 2 -o pairs.goal
"$TAILBACK" replay pairs.goal -n "$data/dgx-ndr.ibnetdiscover.zst" --routes "$data/dgx-ndr.lfts.zst" -q -o routes.db 2>/dev/null
"$TAILBACK" report routes.db --full >said
grep -q 'its routes cost at least .* What they put on .*SPINE.* > .*LEAF.* takes that link' said
refuse 'taper' said
