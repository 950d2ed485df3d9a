# Causes that no single link shows: whom an incast slows down though it has no part in it, buffers that are too small for
# their round trip, and a taper. Each is named with what helps, which helps, and not where it does not hold.
set -eu
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
findings() { # OPTION...: replays them into run.db, and lists its findings
	rm -f run.db
	"$TAILBACK" replay -q "$@" -o run.db
	"$TAILBACK" report run.db -f csv --list findings >found
}
has() { grep -q "$1" found || { echo "$1 is not in:" && cat found && false; }; }
lacks() { ! has "$1" >/dev/null 2>&1 || { echo "$1 is in:" && cat found && exit 1; }; }

# 14 sends to 1, six others to 0; with ecmp it shares a spine's link with them.
bash "$TB_SOURCE/tests/support/victim_goal.sh" >victim.goal
for network in roce-100 ib-hdr; do
	findings victim.goal -n $network,arity=4,levels=2,ascent=ecmp --seed 2
	has '^incast,'
	has '^victim,.*from node 14 to node 1 .*for packets to node 0'
	has '^routes-apart,.*ascent=deterministic'
	findings victim.goal -n $network,arity=4,levels=2,ascent=deterministic --seed 2
	has '^incast,'
	lacks '^victim,'
done

# A packet and its credit take 40 us there and back: 16 packets of a buffer of 64 KiB do so at once.
"$TAILBACK" synth complement --nodes 16 --message 1M --messages 2 -o shift.goal
findings shift.goal -n ib-hdr,arity=4,levels=2,hop_latency=20us,buffer=64KiB
has '^credit-limited,.*64 KiB of buffer carry 1.5.. GB/s over the round trip of 40 us'
has '^larger-buffer,.*buffer=1024KiB'
findings shift.goal -n ib-hdr,arity=4,levels=2,hop_latency=20us,buffer=1024KiB
lacks '^credit-limited,'
"$TAILBACK" synth complement --nodes 16 --message 32K --messages 1 -o brief.goal
findings brief.goal -n ib-hdr,arity=4,levels=2,hop_latency=20us,buffer=64KiB
lacks '^credit-limited,'

# An all-to-all on a tree with half the cables up.
"$TAILBACK" synth alltoall --algorithm linear -n 64 --size 64K -o all.goal
findings all.goal -n 'ib-hdr,arity=8,levels=2,taper=4'
has '^taper,.*links up from level 0 (16, 4:1) cause'
has '^less-taper,'
findings all.goal -n 'ib-hdr,arity=8,levels=2,taper=1'
lacks '^taper,'

# As many cables up as down, of half the rate.
findings all.goal -n 'ib-hdr,arity=8,levels=2,level_rates=25GB/s 12.5GB/s'
has '^taper,.*They run at 12.50 GB/s each, the links below at 25 GB/s'
has '^time-parts,.*of it as the network took no more'
has '^less-taper,.*level_rates=25GB/s 25GB/s'

# By load packets of an exchange in rounds meet, by their destinations they do not; a transposition has to choose.
"$TAILBACK" synth alltoall --algorithm direct -n 64 --size 64K -o rounds.goal
findings rounds.goal -n ib-hdr,arity=4,levels=3,ascent=adaptive
has '^another-ascent,.*ascent=deterministic'
lacks '^network-full,.*network is full'
"$TAILBACK" synth transpose -n 64 --message 64K --messages 4 -o transpose.goal
findings transpose.goal -n ib-hdr,arity=4,levels=3,ascent=adaptive
lacks 'ascent=deterministic'
lacks '^idle-links,'
findings transpose.goal -n ib-hdr,arity=4,levels=3,ascent=deterministic
has '^idle-links,.*96 of 128 links up carried nothing (ascent is deterministic)'
has '^another-ascent,.*ascent=adaptive'

# Where all links up have as much, none stands out.
"$TAILBACK" synth complement --nodes 512 --message 64K --messages 1 -o far.goal
findings far.goal -n 'ib-hdr,shape=xgft(2;16,32;1,8)'
has '^taper,.*links up from level 0 (256, 2:1) cause'
has '^where,.*No link stands out: the hottest has 0'

# With a dead cable flows had two ways: what links held up at least is known.
{
	echo "num_ranks 16"
	for pair in 0:5 1:9 2:13 6:10; do
		printf 'rank %s {\ns: send 1048576b to %s\n}\nrank %s {\nr: recv 1048576b from %s\n}\n' \
			${pair%:*} ${pair#*:} ${pair#*:} ${pair%:*}
	done
	for r in 3 4 7 8 11 12 14 15; do printf 'rank %s {\n}\n' $r; done
} >cut.goal
findings cut.goal -n ib-hdr,arity=4,levels=2
has '^idle-links,.*Nothing crossed switch 1.0 and 1 more'
findings cut.goal -n ib-hdr,arity=4,levels=2 --fault link=0.0:5@20us
has 'held up the end of the run for at least'

# Clients whose second messages wait behind the first, which a server holds up: that is no backlog of theirs.
"$TAILBACK" synth io write --clients 8 --servers 1 --block 8M -o io.goal
findings io.goal -n ib-hdr,arity=16,levels=1
has '^time-parts,.*behind messages of the same node that the network held up'
has '^incast,.*Packets to it held up the end of the run for at least'
lacks '^idle-links,'
has '^backlog,.*whose link stood still for 8[0-9] % of the run, as the network took no more'

# A straggler is judged by what the program computes: its library's combining is no work of the rank.
for r in 0 1 2 3; do
	{
		echo "$r init"
		for step in 1 2 3; do printf '%s\n' "$r compute $((r == 2 ? 13000000 : 10000000))" "$r allreduce 64e6 $step"; done
		echo "$r finalize"
	} >slow$r.txt
done
printf 'slow%d.txt\n' 0 1 2 3 >slow.list
findings slow.list -n ib-ndr --library nccl
has '^straggler,.*Rank 2 on node 2 computes 39 ms, 30 % longer than the median of the other 3 (30 ms)'
sed -i 's/compute 13000000/compute 10000000/' slow2.txt
slow_ps=$(sqlite3 run.db 'SELECT simulated_ps FROM run')
said_ps=$(grep -o 'shorter_ps=[0-9]*' found | cut -d= -f2)
findings slow.list -n ib-ndr --library nccl
lacks '^straggler,'
gained_ps=$((slow_ps - $(sqlite3 run.db 'SELECT simulated_ps FROM run')))
((said_ps > gained_ps * 95 / 100 && said_ps < gained_ps * 105 / 100)) || { echo "said $said_ps, gained $gained_ps" && exit 1; }

# A node's link that carries all along is the cause, though nothing waits; what drains slowly has a remedy then, too.
"$TAILBACK" synth neighbour --nodes 16 --message 4M --messages 4 -o pairs.goal
findings pairs.goal -n ib-hdr,arity=8,levels=2
has "^node-full,.*A node's own link is full: what went out of node 0 took it more than 99 % of the run"
has '^second-rail,'
findings pairs.goal -n ib-hdr,arity=8,levels=2 --slow 5=5GB/s
has '^slow-receiver,.*node 5 drains more slowly'
has '^quicker-node,'

# Time-outs cost nothing where the link to the receiver is full all along; where they do, remedies are tried.
"$TAILBACK" synth hot-spot --nodes 16 --message 1M --messages 4 -o long.goal
findings long.goal -n ethernet,arity=16,levels=1,queue=64KiB
has '^time-parts,.*in time-outs.*There, too, what was held up or timed out here waits for the nodes. own links, which are as fast'
lacks '^smaller-window,'
"$TAILBACK" synth hot-spot --nodes 16 --message 64K --messages 1 -o short.goal
findings short.goal -n ethernet,arity=16,levels=1,queue=32KiB
has '^time-parts,.*time-outs, all in the connection from node'
has '^deeper-queue,'
# A window of one segment waits for the timer of its acknowledgement: 2 KiB take 8 times as long.
lacks '^smaller-window,'
findings short.goal -n ethernet,arity=16,levels=1,queue=64KiB
has '^smaller-window,.*receive_window=4KiB'

# A job that writes from the nodes of another: what it costs is said of the nodes, not of waits at links.
"$TAILBACK" synth allreduce --algorithm ring -n 16 --size 16M --repeat 2 --compute 2ms -o train.goal
"$TAILBACK" synth io write --clients 16 --servers 2 --block 8M -o write.goal
findings --job train.goal,nodes=0-15 --job write.goal,nodes=0-17,shared -n ib-hdr,arity=8,levels=2 --alone
has '^others-cost,.*train.goal.*write.goal shares 16 nodes with it'

# Jobs that meet on links up: a place of its own for each comes before other routes, on which they meet, too.
"$TAILBACK" synth alltoall -n 16 --size 1M --repeat 4 -o neighbour.goal
findings --job 'train.goal,nodes=0-3 8-11 16-19 24-27' --job 'neighbour.goal,nodes=4-7 12-15 20-23 28-31' \
	-n ib-hdr,arity=8,levels=2,taper=4 --alone
has '^whose,'
[[ $(grep -m1 ',true,' found) == separate-jobs,* ]] || { cat found && exit 1; }

# What a link held up at least is in its table as in the sentence; 80 % of the wait in most of the run is on no first page.
"$TAILBACK" synth uniform -n 64 --message 64K --messages 8 -o random.goal
findings random.goal -n ib-hdr,arity=8,levels=2
has '^when,.*8[0-9] % of the wait arose.*6[0-9] % of the run'
"$TAILBACK" report run.db >page
grep -q '^The run took' page && ! grep -q 'of the wait arose' page || { cat page && exit 1; }
findings cut.goal -n ib-hdr,arity=4,levels=2 --fault link=0.0:5@20us
"$TAILBACK" report run.db >page
grep -q ' > .* %  *≥ .* us ' page || { cat page && exit 1; }
