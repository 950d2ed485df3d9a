# What takes the time of a run is named: a node's own link or bus, the pace of congestion control, a connection, a slow receiver.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'echo "line $LINENO: $BASH_COMMAND"; cat findings 2>/dev/null' ERR
cd "$work"
refuse() { ! grep -q "$@"; }
findings_of() {
    rm -f run.db
    "$TAILBACK" replay -q -o run.db "$@"
    "$TAILBACK" report --full run.db >run.txt
    sed -n '/^Findings/,/^Configuration/p' run.txt >findings
    refuse 'network is full\|of its routes are full' findings
}
# Links carry 1,300 MB/s each way, the bus 911 MB/s in all.
"$TAILBACK" synth alltoall -n 8 --size 256K -o all.goal
findings_of all.goal -n qsnet2,arity=8,levels=1
grep -q "bus is full: that of node [0-9]*, 911 MB/s for both directions together, was busy for \(more than \)\?9[0-9] %" findings
grep -q "waits for the nodes' own buses, which are as fast" findings
grep -q 'Links twice as fast would save nothing' findings
# One switch has no other routes.
"$TAILBACK" synth bit-reversal --nodes 64 --message 64K --messages 8 -o pairs.goal
findings_of pairs.goal -n ethernet
grep -q "A node's own link is full: what went .* took it \(more than \)\?9[0-9] % of the run" findings
grep -q 'rails=2' findings
# The queue is in the library: no packet waits.
"$TAILBACK" synth alltoall -n 8 --size 1M -o gpus.goal
findings_of gpus.goal -n ib-ndr,levels=1 -H nccl --per-node 4
grep -q "A node's own link is full: what went .* took it \(more than \)\?9[0-9] % of the run" findings
grep -q 'rails=2' findings
# Links rest while DCQCN holds senders to a pace.
"$TAILBACK" synth hot-spot --nodes 16 --message 1M --messages 1 -o burst.goal
findings_of burst.goal -n roce-100,arity=4,levels=2,congestion_control=dcqcn
grep -q 'Congestion control (dcqcn) kept senders for [5-9][0-9] % of the run' findings
grep -q 'congestion_control=none' findings
findings_of burst.goal -n roce-100,arity=4,levels=2
refuse 'kept senders for' findings

# What is held up at no link has the reasons of its network: two that send each other share cables with acknowledgements, and a
# lone message opens its connection.
printf 'num_ranks 2\nrank 0 {\ns: send 1000000b to 1 tag 0\nr: recv 1000000b from 1 tag 1\n}\n' >both.goal
printf 'rank 1 {\ns: send 1000000b to 0 tag 1\nr: recv 1000000b from 0 tag 0\n}\n' >>both.goal
findings_of both.goal -n qsnet,levels=2
grep -q 'at no known link: acknowledgements and tokens, which share cables with packets (link_tokens)' findings
grep -q 'at no link: acknowledgements and tokens' run.txt
refuse 'sent again' run.txt
printf 'num_ranks 2\nrank 0 {\ns: send 1448b to 1 tag 0\n}\nrank 1 {\nr: recv 1448b from 0 tag 0\n}\n' >lone.goal
findings_of lone.goal -n ethernet
grep -q 'was in connections, which lost nothing: to open them takes a round trip' findings
grep -q 'as on an idle one with connections that are open' findings

# What a slow receiver takes is in the ideal of its messages: it costs the run all the same.
python3 - >slow.goal <<'END'
print("num_ranks 16")
for rank in range(16):
    ends = {s: d for s, d in ((0, 5), (8, 5), (12, 5), (1, 6), (2, 9))}
    print(f"rank {rank} {{")
    if rank in ends:
        print(f"s: send 1048576b to {ends[rank]} tag {rank}")
    for source in (s for s in ends if ends[s] == rank):
        print(f"r{source}: recv 1048576b from {source} tag {source}")
    print("}")
END
findings_of slow.goal -n roce-100,arity=4,levels=2 --slow 5=2GB/s
grep -q 'Slow receiver: node 5' findings
refuse 'did not hold up the end' findings
grep -q 'end of the run waited while messages to it crossed the network, no quicker than it drains' findings
grep -q 'To see what the slow receiver costs' findings
"$TAILBACK" report run.db >brief
grep -q 'Slow receiver: node 5' brief

# Of more than 16 stretches those with the shortest pauses are one phase, which is said.
{
    printf 'num_ranks 2\nrank 0 {\n'
    for i in {1..20}; do
        printf 's%s: send 1000000b to 1 tag %s\nc%s: calc 1000000\nc%s requires s%s\n' $i $i $i $i $i
        [[ $i == 1 ]] || printf 's%s requires c%s\n' $i $((i - 1))
    done
    printf '}\nrank 1 {\n'
    for i in {1..20}; do printf 'r%s: recv 1000000b from 0 tag %s\n' $i $i; done
    printf '}\n'
} >bursts.goal
findings_of bursts.goal -n ib-hdr,levels=1
grep -q 'Links were busy in 20 stretches: those with the shortest pauses between them are one phase' run.txt
