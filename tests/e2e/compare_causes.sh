# Pairs of runs whose difference is known: the first paragraph of a comparison names it, and what it costs.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'echo "line $LINENO: $BASH_COMMAND"; cat said 2>/dev/null' ERR
cd "$work"
refuse() { ! grep -q "$@"; }
replay() { "$TAILBACK" replay -q -o "$@"; }
compare() { # A B: the first screen into `screen`, its first paragraphs as one line into `said`
	"$TAILBACK" compare "$1.db" "$2.db" >screen
	sed '1,3d; /^What /,$d' screen | tr '\n' ' ' >said
}

# shellcheck source=tests/support/leaf_spine.sh
. "$TB_SOURCE/tests/support/leaf_spine.sh"
leaf_spine '' >good.edges
leaf_spine '/leaf2 4 /s/100G/25G/' >uplink.edges
leaf_spine '/leaf2 4 /d' >dead.edges
leaf_spine '/^leaf. [57] /d' >taper.edges
"$TAILBACK" synth alltoall -n 16 --size 512K -o all.goal
"$TAILBACK" synth alltoall -n 16 --size 1M -o larger.goal
"$TAILBACK" synth alltoall -n 8 --size 1M -o eight.goal
cp eight.goal other.goal
"$TAILBACK" synth alltoall -n 8 --size 4M -o gpus.goal
"$TAILBACK" synth bit-reversal --nodes 16 --message 1M --messages 4 -o pairs.goal
"$TAILBACK" synth hot-spot --nodes 16 --message 1M --messages 1 -o hot.goal

# A slow cable.
for name in good uplink dead taper; do replay $name.db all.goal -n $name.edges; done
compare good uplink
grep -q 'takes 3.9 times as long' said
grep -q 'The cable of leaf2:4 > spine0:4 runs at 25 Gbit/s in B, at 100 Gbit/s in A' said
grep -q "messages take 2.76 times as long as on an idle one in B, 1.00 times in A" said
refuse 'What differs\|link that changed most\|other links' said
# A cable that is gone, and one that was declared dead.
compare good dead
grep -q "takes 90.5 % longer .* B lacks the cable of leaf2:4 > spine0:4\." said
grep -q 'cables of A alone *leaf2:4 > spine0:4 *-$' screen
refuse '0 switches' said
replay fault.db all.goal -n good.edges --fault link=leaf2:4
compare good fault
grep -q 'What differs is --fault: none in A, link=leaf2:4 in B' said
# Half the cables up.
compare good taper
grep -q 'takes 2.1 times as long .* B lacks 8 cables that A has, such as that of leaf0:5 > spine0:1\.' said
grep -q 'Links up from level 0 cause 109.6 ms of the wait in B, none in A' said
compare taper good
grep -q 'takes 53.0 % less .* A lacks 8 cables that B has' said
# Two hosts that changed places.
sed 's/gpu5 /other /; s/gpu9 /gpu5 /; s/other /gpu9 /' good.edges >swapped.edges
replay swapped.db all.goal -n swapped.edges
compare good swapped
grep -q 'gpu5 is on leaf2 in B, on leaf1 in A; gpu9 is on leaf1 in B, on leaf2 in A\.' said
grep -q 'cables of B alone *- *gpu[0-9]* > leaf[12] and 1 more$' screen
refuse 'lacks' said
# Of them and a cable that is gone, both; two cables crossed; a spine that is gone.
sed '/^leaf2 4 /d' swapped.edges >swapped_dead.edges
leaf_spine 's/^leaf1 5 spine0 3/leaf1 5 spine1 9/; s/^leaf2 6 spine1 4/leaf2 6 spine0 9/' >crossed.edges
leaf_spine '/ spine1 /d' >half.edges
for name in swapped_dead crossed half; do replay $name.db all.goal -n $name.edges; done
compare good swapped_dead
grep -q 'gpu9 is on leaf1 in B, on leaf2 in A\. B lacks the cable of leaf2:4 > spine0:4\.' said
compare good crossed
grep -q 'leaf1:5 leads to spine1 in B, to spine0 in A; leaf2:6 leads to spine0 in B, to spine1 in A\.' said
refuse 'lacks' said
compare good half
grep -q 'B lacks 8 cables that A has, all on spine1\.' said
# Another placement.
replay together.db --job 'eight.goal,nodes=gpu[0-7]' -n taper.edges
replay apart.db --job 'eight.goal,nodes=gpu[0,2,4,6,8,10,12,14]' -n taper.edges
compare together apart
grep -q 'takes 8.9 % longer' said
grep -q 'What differs is placement: nodes 0-7 at 2 leaf switches in A, nodes 0,2,4,6,8,10,12,14 at 4 leaf switches in B\.' said
grep -q 'of these 4 of 4 are full in B (busy for 90 % of the run or more), 0 of 4 in A' said
# A job that moved to nodes alike: the links that it left are no finding.
replay elsewhere.db --job 'eight.goal,nodes=gpu[8-15]' -n taper.edges
compare together elsewhere
grep -q 'takes no longer .* What differs is placement: nodes 0-7 at 2 leaf switches in A, nodes 8-15 at 2 leaf switches in B\.' said
refuse 'changed most is' said
# Another routing.
replay adaptive.db pairs.goal -n ib-ndr,arity=4,levels=2,ascent=adaptive
replay digits.db pairs.goal -n ib-ndr,arity=4,levels=2
compare adaptive digits
grep -q 'takes 2.8 times as long .* What differs is ascent: adaptive in A, deterministic in B\. .*At least 75 % of the bytes between switches take other links.* it takes 2.5 to 3 times as long' said
# Congestion control: packets wait less, and no link that waits less is a reason.
replay free.db hot.goal -n roce-100,arity=4,levels=2,congestion_control=none
replay paced.db hot.goal -n roce-100,arity=4,levels=2,congestion_control=dcqcn
compare free paced
grep -q 'takes 3.2 times as long .* though packets wait 58.7 % less' said
grep -q "What differs is congestion_control: none in A, dcqcn in B\. Most of the change is in 'pace of congestion control': 2.865 ms in B" said
refuse 'changed most is\|cause .* of the wait' said
# A buffer.
replay deep.db all.goal -n ib-ndr,arity=4,levels=2
replay shallow.db all.goal -n ib-ndr,arity=4,levels=2,buffer=4352
compare deep shallow
grep -q 'takes 6.1 times as long .* What differs is buffer: 128 KiB in A, 4.250 KiB in B' said
# A second job beside.
replay alone.db --job 'eight.goal,nodes=gpu[0-1,4-5,8-9,12-13]' -n taper.edges
replay beside.db --job 'eight.goal,nodes=gpu[0-1,4-5,8-9,12-13]' --job 'other.goal,nodes=gpu[2-3,6-7,10-11,14-15]' -n taper.edges
compare alone beside
grep -q 'other.goal runs in B alone\. How long they take and wait does not compare\.' said
grep -q 'Job eight.goal loses: it takes 2.6 times as long .* its packets wait 47.71 ms more for those of other.goal' said
# Another library, whose own settings follow from it.
replay mpi.db gpus.goal -n ib-ndr,levels=1 -H mpi --per-node 1
replay nccl.db gpus.goal -n ib-ndr,levels=1 -H nccl --per-node 1
compare mpi nccl
grep -q "takes 15.9 % longer .* What differs is host: mpi@[a-z0-9]* in A, nccl@[a-z0-9]* in B\. Most of the change is in 'hosts and libraries': 149.1 us in B" said
refuse '^ *issue' screen
# Larger messages.
replay larger.db larger.goal -n good.edges
compare good larger
grep -q 'carried different work: .* as many messages, of 2 times the bytes, in 1.95 times the time (2.3 % less per byte)' said
# Seeds.
for seed in 1 2; do replay seed$seed.db pairs.goal -n ib-ndr,arity=4,levels=2,ascent=random --seed $seed; done
compare seed1 seed2
grep -q 'differ by their seed alone' said
refuse 'What differs is' said
# Where no packet waited for a link that the seed chose, nothing is said of other seeds, nor beside those that were given.
leaf_spine '/gpu5 /s/100G/25G/' >host.edges
"$TAILBACK" synth allreduce --algorithm ring -n 16 --size 4M -o ring.goal
for name in good host; do replay ring_$name.db ring.goal -n $name.edges,preset=roce-100 --seed 1..3; done
for runs in '3 3' '1..3 1..3'; do
	"$TAILBACK" compare ring_good.db ring_host.db --run "${runs% *}" --run "${runs#* }" --full >said
	grep -q ' times as long ' said
	refuse 'other seeds' said
	[[ $runs == '3 3' ]] || grep -q 'Each of 3 seeds gives the same\.$' said
done
# The links of a cable that differs are tested apart from the others; where nothing differs, those that changed most are listed.
for name in good uplink; do replay five_$name.db all.goal -n $name.edges,preset=roce-100,ascent=random --seed 1..5; done
replay five_fault.db all.goal -n good.edges,preset=roce-100,ascent=random --seed 1..5 --fault link=leaf2:4
leaf_spine '/leaf2 4 /s/100G/80G/' >mild.edges
replay five_mild.db all.goal -n mild.edges,preset=roce-100,ascent=random --seed 1..3
compare five_good five_mild
grep -q '^ *spine0:4 > leaf2:4 *wait .* yes$' screen
compare five_good five_uplink
grep -q '^B against A over 5 seeds\. The cable of leaf2:4 > spine0:4 runs at 25 Gbit/s in B, at 100 Gbit/s in A\. Packets wait ' said
grep -q 'The link that changed most is spine0:4 > leaf2:4: .* more\.' said
grep -q '^ *spine0:4 > leaf2:4 *wait .* yes$' screen
grep -q ' wait .* no$' screen
"$TAILBACK" compare five_good.db five_uplink.db --full >screen
grep -q 'links of cables that differ and the others apart, with half of the error each' screen
compare five_good five_fault
grep -q 'over 5 seeds\. What differs is --fault: none in A, link=leaf2:4 in B\. Packets wait ' said
grep -q '^ *leaf2:5 > spine0:5 *wait .* yes$' screen
replay six.db all.goal -n good.edges,preset=roce-100,ascent=random --seed 6..10
compare five_good six
grep -q ' 0 of [0-9]* links, 0 of ' said
grep -q 'The link that changed most is .*, no more than chance\.' said
[[ $(grep -c ' wait  *[0-9].* no$' screen) == 4 ]] # the total and three links
# What a network is bought by stands first.
replay slower.db pairs.goal -n qsnet,levels=2
compare digits slower
grep -q 'What differs is network: ib-ndr in A, qsnet in B; rate: 50 GB/s in A, 400 MB/s in B' said
# Two captures of what three senders had to send, the second at half the pace.
python3 - <<'END'
import random, struct
for name, pace, seed in (("fast", 36336, 1), ("slow", 72672, 2)):
    rng, frames = random.Random(seed), []
    def add(time, source, destination, seq, ack, payload, flags):
        ports = (40000 + source, 5000) if destination == 1 else (5000, 40000 + destination)
        frames.append((time, bytes([2, 0, 0, 0, 0, destination, 2, 0, 0, 0, 0, source, 8, 0]) +
            struct.pack(">BBHHHBBH4s4s", 0x45, 0, 40 + payload, 0, 0, 64, 6, 0, bytes([10, 0, 0, source]), bytes([10, 0, 0, destination])) +
            struct.pack(">HHIIBBHHH", *ports, seq, ack, 5 << 4, flags, 65535, 0, 0) + bytes(payload)))
    for source in (2, 3, 4):
        time, seq = 1000 * source, 1
        add(time, source, 1, 0, 0, 0, 2), add(time + 20000, 1, source, 0, 1, 0, 18), add(time + 40000, source, 1, 1, 1, 0, 16)
        for message in range(50):
            for frame in range(10):
                time += pace + rng.randrange(200)
                add(time + 60000, source, 1, seq, 1, 1448, 24 if frame == 9 else 16)
                seq += 1448
            add(time + 75000, 1, source, 1, seq, 0, 16)
    with open(name + ".pcap", "wb") as out:
        out.write(struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 65535, 1))
        for time, frame in sorted(frames, key=lambda one: one[0]):
            out.write(struct.pack("<IIII", 1, time, len(frame), len(frame)) + frame)
END
for name in fast slow; do replay $name.db $name.pcap -n ethernet; done
compare fast slow
grep -q 'takes 9[0-9.]* % longer .* Frames are sent when they were captured, so that is how long the captures are\. In the network a message takes' said
refuse 'other seeds\|run times by up to' said

# Captures of other lengths: which host's computing a message takes longer by. Where a further host numbers them otherwise, no
# other host's time is told.
python3 - <<'END'
import struct
for name, asks, think_us, others in (("short", 100, 1000, 0), ("long", 200, 3000, 0), ("beside", 200, 3000, 30)):
    frames = []
    def add(at_us, source, destination, port, seq, ack):
        frames.append((at_us, bytes([2, 0, 0, 0, 0, destination, 2, 0, 0, 0, 0, source, 8, 0]) +
            struct.pack(">BBHHHBBH4s4s", 0x45, 0, 540, 0, 0, 64, 6, 0, bytes([10, 0, 0, source]), bytes([10, 0, 0, destination])) +
            struct.pack(">HHIIBBHHH", port, port, seq, ack, 5 << 4, 24, 65535, 0, 0) + bytes(500)))
    for i in range(asks):
        at_us, seq = i * (150 + think_us), 1 + 500 * i
        add(at_us, 2, 3, 4000, seq, seq), add(at_us + 50 + think_us, 3, 2, 4000, seq, seq + 500)
    for i in range(others):
        add(20000 * i + 7, 1, 2, 5000, 1 + 500 * i, 1)
    with open(name + ".pcap", "wb") as out:
        out.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
        for at_us, frame in sorted(frames, key=lambda one: one[0]):
            out.write(struct.pack("<IIII", at_us // 1000000, at_us % 1000000, len(frame), len(frame)) + frame)
END
for name in short long beside; do replay $name.db $name.pcap -n ethernet --closed-loop; done
compare short long
grep -q 'For each message the run takes .*; of that 10.0.0.3 computes 525.0 us in A, 1.525 ms in B\.' said
compare short beside
grep -q 'For each message the run takes .* times)\. ' said

# What stood behind a node's own messages because the network took no more is a part of its own; parts add up to the run time.
"$TAILBACK" synth alltoall --algorithm linear -n 64 --size 64K -o many.goal
replay level.db many.goal -n 'ib-hdr,arity=8,levels=2,level_rates=25GB/s 25GB/s'
replay half.db many.goal -n 'ib-hdr,arity=8,levels=2,level_rates=25GB/s 12.5GB/s'
compare level half
grep -q '^  held up behind own messages ' screen
grep -q "Most of the change is in '[a-z ]*held up" said
"$TAILBACK" compare -f json level.db half.db >both.json
python3 - <<'END'
import json
both = json.load(open("both.json"))
for run in (both["a"], both["b"]):
    assert sum(run[key] for key in run if key.startswith("path_")) == run["simulated_ps"], run
assert 2 * both["b"]["path_pressed_ps"] > both["b"]["path_queue_ps"], both["b"]
END

# A link that one run lacks waited for no time: not for 0 ps, in text, data or window.
"$TAILBACK" compare uplink.db dead.db >screen
grep -q '^ *spine0:4 > leaf2:4 *32.49 ms *- *-32.49 ms' screen
"$TAILBACK" compare uplink.db dead.db -f csv | grep -q '^[0-9]*,spine0:4 > leaf2:4,a,[0-9]*,,-'
printf '%s\n' 'expect : 32.49 ms, then -' 'refuse then 0 ps' | "$TAILBACK" view uplink.db dead.db --size 1280x1000 --script -
