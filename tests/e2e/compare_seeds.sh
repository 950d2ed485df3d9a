# Several seeds against each other: a planted slow cable is found, a comparison of seeds only finds nothing, and one
# run each passes no verdict on what seeds usually move.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'echo "line $LINENO: $BASH_COMMAND"; cat said 2>/dev/null' ERR
cd "$work"

# fabric RATE: four leaves of four hosts and four spines; the cable from leaf0 to spine0 has its own rate.
fabric() {
	for leaf in 0 1 2 3; do
		for host in 0 1 2 3; do echo "leaf$leaf $host n$((4 * leaf + host)) 0 100Gbit/s"; done
		for spine in 0 1 2 3; do
			rate=100Gbit/s
			[[ $leaf$spine != 00 ]] || rate=$1
			echo "leaf$leaf $((4 + spine)) spine$spine $leaf $rate"
		done
	done
}
fabric 100Gbit/s >good.edges
fabric 40Gbit/s >bad.edges
"$TAILBACK" synth bit-reversal --nodes 16 --message 64K --messages 8 -o job.goal
on() { "$TAILBACK" replay job.goal -n "$1.edges,preset=ib-edr,ascent=random" --seed "$2" -q -o "$3"; }
on good 1..6 good.db
on good 7..12 other.db
on bad 1..6 bad.db

# The slow cable, either way, is among the links that differ, and --fail-over trips.
code=0
"$TAILBACK" compare good.db bad.db -f json --fail-over 5 -o found.json 2>said || code=$?
[[ $code == 3 ]]
grep -q 'longer in B' said
code=0
"$TAILBACK" compare good.db other.db -f json --fail-over 0 -o nothing.json 2>said || code=$?
[[ $code == 0 ]]
python3 - <<'END'
import json
found, nothing = json.load(open("found.json")), json.load(open("nothing.json"))
assert found["seeds"] == nothing["seeds"] == 6
differing = lambda what, kind: [r for r in what["beyond_chance"] if r["differs"] and r["kind"] == kind]
roots = differing(found, "root")
assert "leaf0" in roots[0]["name"] and "spine0" in roots[0]["name"], roots
assert differing(found, "run") and differing(found, "link")
assert all(r["change_ps"] - r["half_interval_ps"] > 0 for r in differing(found, "run"))
assert not any(r["differs"] for r in nothing["beyond_chance"]), nothing["verdict"]
assert "0 of 1 job" in nothing["verdict"] and "no more than chance" in nothing["verdict"]
END

# One store holds both, with seeds in any order; its newest runs are compared with those before.
for seed in 3 1 2; do on good $seed both.db; done
for seed in 1 2 3; do on bad $seed both.db; done
"$TAILBACK" compare both.db >said
grep -q 'over 3 seeds' said
"$TAILBACK" compare both.db --run 1..3 --run 4..6 >said
grep -q 'over 3 seeds' said
# Only what both have: seeds 2 and 3.
on bad 2..4 part.db
"$TAILBACK" compare good.db part.db >said
grep -q 'over 3 seeds' said
on bad 2 one.db
"$TAILBACK" compare good.db one.db --full >one.txt
! grep -q 'over .* seeds' one.txt
grep -q '^A  good.db, run 2:' one.txt # of the same seed
code=0
"$TAILBACK" compare both.db --run 3..4 --run 5 2>said || code=$?
[[ $code == 2 ]]
grep -q 'its runs 3 and 4 differ in more than the seed' said
code=0
"$TAILBACK" compare both.db good.db --run 1..9 --run 5 2>said || code=$?
[[ $code == 2 ]]
grep -q 'differ in more than the seed' said

# Runs that stay out are named, and why; a run on both sides is refused, but for one run and itself.
"$TAILBACK" compare good.db part.db >/dev/null 2>said
grep -qx 'tailback: note: of good.db runs 1, 5, 6 are left out: no run of the other side has their seeds' said
"$TAILBACK" compare both.db --run 1..3 --run 4..6 >/dev/null 2>said
[[ ! -s said ]]
"$TAILBACK" compare good.db --run 1..2 --run 3..5 >/dev/null 2>said
grep -qx 'tailback: note: of good.db run 3 is left out: the sides have no seed in common, and the other has fewer runs' said
"$TAILBACK" compare both.db --run 1..3 --run 4 --full >one.txt 2>said
grep -qx 'tailback: note: of both.db runs 3, 1 are left out: no run of the other side has their seeds' said
grep -q '^A  both.db, run 2:' one.txt
for ranges in "1..3 3..5" "3..5 1..3" "1..4 4" "1..3 1..3"; do
	code=0
	"$TAILBACK" compare good.db ./good.db --run "${ranges% *}" --run "${ranges#* }" >/dev/null 2>said || code=$?
	[[ $code == 2 ]]
	grep -Eq 'its run [134] is in both A and B' said
done
"$TAILBACK" compare good.db --run 3 --run 3 --full >one.txt
grep -q '^Nothing: both runs are alike' one.txt
cp good.db twice.db
on good 2 twice.db
code=0
"$TAILBACK" compare twice.db good.db --run 1..7 --run 1..6 2>said || code=$?
[[ $code == 2 ]]
grep -q 'its runs 2 and 7 have the same seed' said

# All differ by their seed only: the newest two, which a note says, and how to get others.
"$TAILBACK" compare good.db --full >newest.txt 2>said
grep -q '^A  good.db, run 5:' newest.txt
grep -q 'note: the 6 runs of good.db differ at most by their seed: the newest two are compared; choose others by --run' said
"$TAILBACK" compare good.db --run 1 --run 2 --full >newest.txt 2>said
grep -q '^B  good.db, run 2:' newest.txt
! [[ -s said ]]

# One run each: what seeds usually move is no verdict, neither in words nor by --fail-over.
"$TAILBACK" compare good.db --run 1 --run 2 --fail-over 0 --full >one.txt 2>said
grep -q 'The runs differ by their seed alone: it is what seeds do to this run' one.txt
! grep -Eq 'Job job.goal (gains|loses)' one.txt
if grep -q 'longer' said; then grep -q 'may be chance' said; fi
# A verdict has what other seeds would make of it.
"$TAILBACK" replay job.goal -n qsnet,ascent=adaptive -q -o quick.db
"$TAILBACK" replay job.goal -n qsnet,ascent=adaptive,rate=100MB/s -q -o slow.db
"$TAILBACK" compare quick.db slow.db --full >range.txt
grep -Eq '^Job job.goal loses: it takes .*; with other seeds [0-9.]+ to [0-9.]+ ' range.txt
# Where the seed has no say, any change is one.
"$TAILBACK" replay job.goal -n ib-edr -q -o sure.db
"$TAILBACK" replay job.goal -n ib-edr,rate=99Gbit/s -q -o sure.db
"$TAILBACK" compare sure.db --full >sure.txt
! grep -q 'no verdict' sure.txt

# Where the seed places a job, whatever the routes: of one run each no verdict, of several one.
"$TAILBACK" synth alltoall --nodes 8 --size 64K -o all.goal
placed() {
	"$TAILBACK" replay --job all.goal,placement="$1" -n qsnet,levels=2,ascent=deterministic --seed "$2" -q -o "$3"
}
placed random 1..6 placed.db
longer=0
for pair in "1 2" "2 1" "3 4" "4 3"; do
	"$TAILBACK" compare placed.db --run "${pair% *}" --run "${pair#* }" --fail-over 0 --full >one.txt 2>said
	grep -q 'The runs differ by their seed alone' one.txt
	[[ $(grep -Ec '^ *Job .* (gains|loses)' one.txt) == 0 ]]
	if grep -q 'longer' said; then
		grep -q 'may be chance' said
		longer=1
	fi
done
[[ $longer == 1 ]]
placed block 1..6 block.db
"$TAILBACK" compare block.db --run 1 --run 2 --full >one.txt
[[ $(grep -c 'no verdict' one.txt) == 0 ]]
"$TAILBACK" compare block.db placed.db --run 1 --run 1 --full >one.txt
grep -q 'That is no verdict: each seed places' one.txt
"$TAILBACK" compare block.db placed.db --full >several.txt
grep -q 'over 6 seeds' several.txt
[[ $(grep -c 'no verdict' several.txt) == 0 ]]

# A wide interval ends where a time can fall no further.
"$TAILBACK" synth bit-reversal --nodes 64 --message 16K --messages 2 -o bits.goal
"$TAILBACK" replay bits.goal -n qsnet,levels=3,ascent=random --seed 1,2 --no-bounds -q -o wide.db
"$TAILBACK" replay bits.goal -n qsnet,levels=3 --seed 1,2 --no-bounds -q -o narrow.db
"$TAILBACK" compare wide.db narrow.db --full >wide.txt
grep -q '^A  wide.db, run 1 and 1 more, of another seed: bits.goal' wide.txt
grep -q -- '-100.0 to ' wide.txt
! grep -Eq -- '-(1[0-9][1-9]|1[1-9][0-9]|[2-9][0-9][0-9])\.[0-9] (to|%)' wide.txt

# Where nothing is drawn, six equal runs are one: no interval, and nothing beyond chance.
for latency in 100 101; do
	"$TAILBACK" replay job.goal -n "ib-edr,arity=4,levels=2,hop_latency=${latency}ns,ascent=deterministic" --seed 1..6 \
		--no-bounds -q -o $latency.db
done
"$TAILBACK" compare 100.db 101.db >equal.txt
grep -q '^A  100.db, run 1 and 5 more' equal.txt
[[ $(grep -Ec 'interval|beyond chance' equal.txt) == 0 ]]
