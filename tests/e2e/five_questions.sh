# The five questions of docs/fabrics.md are each answered by three commands at most: those that stand there, with fewer
# seeds and messages.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'echo "line $LINENO: $BASH_COMMAND"; head -n 20 ./*.said' ERR
cd "$work"
PATH=$(dirname "$TAILBACK"):$PATH
data=$TB_SOURCE/tests/data
tailback synth alltoall --nodes 32 --size 32K -o train.goal
tailback synth io-fixed --nodes 32 --message 64K --messages 8 --io-nodes 2 --dedicated -o io.goal
zstd -dqc "$data/dgx-ndr.ibnetdiscover.zst" >fabric.ibnetdiscover
zstd -dqc "$data/dgx-ndr.lfts.zst" >tables.lfts
zstd -dqc "$data/alltoall16.pcap.zst" >job.pcap

# Block after block, what a block's commands print goes to N.said.
n=0 in_block=0
while IFS= read -r line; do
	if [[ $line != '    tailback '* ]]; then
		in_block=0
		continue
	fi
	((in_block)) || n=$((n + 1))
	in_block=$((in_block + 1))
	((in_block <= 3))
	line=${line/--messages 10/--messages 2}
	[[ $line != *' advise '* ]] || line+=' --seeds 1'
	bash -c "$line" >>$n.said 2>>$n.notes </dev/null
done < <(sed -n '/^## Five questions/,/^## Counters/p' "$TB_SOURCE/docs/fabrics.md")
[[ $n == 4 ]] # the first has two answers

# Who holds whom up.
grep -q '^  - .* is that of one job for another; most of it is ' 1.said
grep -q 'Which job makes which wait' 1.said
# When the incasts are, and what they cost: their nodes and times, and what an end of them gains.
grep -Eq '^  - .*Incast at 2 nodes .* between .* and .* cause [0-9]+ % of all wait' 1.said
grep -Eq '^  rails=2 .* helps ' 1.said
# A taper does not hurt this stencil, whose leaves hold planes of 4 by 4; it does where the ranks sit at random.
grep -Fq 'With half the cables up from level 0 (saves 32) it takes as long.' 2.said
tailback replay --job stencil.goal,placement=random -n 'ib-hdr,shape=xgft(2; 16,4; 1,16)' -q -o random.db
tailback advise random.db -q --seeds 1 --exact >random.said
grep -Eq 'With half the cables up from level 0 \(saves 32\) it takes [0-9.]+ % more' random.said
# What is wrong with the fabric.
tr '\n' ' ' <3.said | grep -q '26 cables are missing'
grep -q 'Not alike' 3.said
# How long it takes on another link.
tr '\n' ' ' <4.said | grep -Eq 'The run takes [0-9.]+ % less \('
