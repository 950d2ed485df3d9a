# The five questions that a report has to answer, each asked as a user would, on real captures where
# they are there, and on made ones of which the answer is known: which job slows which, whether
# another placement helps, what a job would take on an idle network, what a dead cable does, and who
# caused an incast, from when to when. The sentence in the text and the figures in JSON are compared
# with what is known from elsewhere.
set -eu
command -v sqlite3 >/dev/null || {
	echo "skipped: no sqlite3"
	exit 77
}
captures=${TB_SHARED:-$TB_SOURCE/../shared}/data/captures
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
mkdir bin
ln -s "$TAILBACK" bin/tailback # the commands that reports propose begin with this name
PATH=$PWD/bin:$PATH

fail() {
	echo "$*"
	exit 1
}
there() {
	local file
	for file; do
		[[ -f $captures/$file ]] && continue
		echo "skipped: $captures/$file is not there"
		return 1
	done
}
# read_report STORE: its text and JSON, and that all formats say the same.
read_report() {
	tailback report --full "$1" --top 3 >report.txt
	tailback report "$1" --top 3 -f json >report.json
	tailback report "$1" --top 3 -f markdown | tr -d '\\' >report.md
	tailback report "$1" --top 3 -f html | sed 's/&gt;/>/g; s/&lt;/</g' >report.html
	sqlite3 :memory: "SELECT json_extract(value, '\$.sentence') FROM $findings" >sentences
	[[ -s sentences ]] || fail "$1: no findings"
	local sentence format
	while IFS= read -r sentence; do
		for format in txt md html; do
			grep -qF -- "$sentence" report.$format || fail "$1: not in report.$format: $sentence"
		done
	done <sentences
}
findings="json_each(readfile('report.json'), '\$.findings')"
# figure RULE KEY [N]: a figure of the Nth finding of a rule, from 0; nothing when there is none.
figure() {
	sqlite3 :memory: "SELECT json_extract(value, '\$.figures.$2') FROM $findings
		WHERE json_extract(value, '\$.rule') = '$1' LIMIT 1 OFFSET ${3:-0}"
}
sentence() {
	sqlite3 :memory: "SELECT json_extract(value, '\$.sentence') FROM $findings
		WHERE json_extract(value, '\$.rule') = '$1' LIMIT 1"
}
# try RULE: runs the command that a remedy proposes.
try() {
	local command
	command=$(sqlite3 :memory: "SELECT json_extract(value, '\$.command') FROM $findings
		WHERE json_extract(value, '\$.rule') = '$1'")
	[[ $command == 'tailback replay '* ]] || fail "$1 proposes no command: $command"
	bash -c "$command" >/dev/null 2>&1 || fail "this does not run: $command"
}
# within WHAT VALUE LEAST MOST
within() {
	[[ -n $2 ]] && awk -v v="$2" -v a="$3" -v b="$4" 'BEGIN { exit !(v >= a && v <= b) }' ||
		fail "$1 is $2, expected $3 to $4"
}
equal() { [[ $2 == "$3" ]] || fail "$1 is '$2', expected '$3'"; }

# Which job slows which? In mix64_mtu, LAMMPS and collectives have every other node of the same
# leaves; the clients and servers of a file system have leaves of their own.
if there mix64_mtu.pcap.zst; then
	for i in {0..63}; do
		job=io
		((i < 48)) && job=$( ((i % 2)) && echo collectives || echo lammps)
		echo "10.77.0.$((i + 1)) $i $job"
	done >mix.map
	tailback replay -q "$captures/mix64_mtu.pcap.zst" --map mix.map --time-scale 0.01 --alone -o mix.db
	read_report mix.db
	within "wait for other jobs" "$(figure whose others_percent)" 5 20
	pair=$(sqlite3 mix.db "SELECT group_concat(name) FROM (SELECT name FROM job WHERE job IN
		($(figure whose victim_job), $(figure whose culprit_job)) ORDER BY name)")
	equal "the pair" "$pair" collectives,lammps
	[[ $(sentence whose) =~ (lammps waiting for collectives|collectives waiting for lammps) ]] ||
		fail "whose: $(sentence whose)"
	# What it costs, from replays of each job by itself: io pays nothing.
	costs() { sqlite3 mix.db "SELECT latency_us / alone_latency_us FROM job_times WHERE name = '$1'"; }
	equal "what the others cost io" "$(costs io)" 1.0
	within "what the others cost lammps" "$(costs lammps)" 1.02 2
	within "what the others cost collectives" "$(costs collectives)" 1.02 2
	equal "who pays most" "$(sqlite3 mix.db "SELECT name FROM job WHERE job = $(figure others-cost job)")" \
		"$(sqlite3 mix.db "SELECT name FROM job_times ORDER BY latency_us / alone_latency_us DESC LIMIT 1")"
fi

# Does another placement help? Two captures of 16 nodes, dealt like cards to the same leaves: the
# report proposes leaves of their own, and with them no job waits for another.
if there lmp16_melt_mtu.pcap.zst coll16_gso.pcap.zst; then
	tailback replay -q --job "$captures/lmp16_melt_mtu.pcap.zst,placement=cyclic,name=melt" \
		--job "$captures/coll16_gso.pcap.zst,placement=cyclic,name=collectives" --time-scale 0.02 -o dealt.db
	read_report dealt.db
	within "shared leaves" "$(figure separate-jobs shared_leaves)" 16 16
	within "wait for other jobs" "$(figure whose others_percent)" 5 30
	within "the load of the busiest node" "$(figure slower-scale busiest_percent)" 100 200
	try separate-jobs
	try alone
	[[ $(sqlite3 alone.db "SELECT count(*) FROM job_alone WHERE network = 'same'") == 2 ]]
	read_report apart.db
	equal "wait for other jobs" "$(figure whose others_percent)" 0.0
	equal "whose" "$(sentence whose)" "No job waited for another."
	tailback compare dealt.db apart.db --full | grep -Eq '^Job melt (gains|has no verdict): it takes .* less' ||
		fail "$(tailback compare dealt.db apart.db | sed -n 4p)"
fi

# What would a job take on an idle network? A single stream takes what it takes; one node that 15
# send to is limited by its own link; bit-reversal waits in the network.
for job in 'ping --nodes 64' 'hot-spot --nodes 16' 'bit-reversal --nodes 64'; do
	# shellcheck disable=SC2086
	tailback synth $job --message 64K --messages 4 -o job.goal
	tailback replay -q job.goal --alone -o ideal.db
	read_report ideal.db
	equal "$job on an ideal network" "$(figure network-cost better_ps)" \
		"$(sqlite3 ideal.db "SELECT run_ps FROM job_alone WHERE network = 'ideal' ORDER BY run DESC LIMIT 1")"
	cost=longer
	[[ $job == bit* ]] || cost="(costs it nothing|costs no job 2 % or more)"
	[[ $(sentence network-cost) =~ $cost\.$ ]] || fail "$(sentence network-cost)"
done
ideal() { sqlite3 ideal.db "SELECT run_us / ideal_us FROM job_times WHERE run = $1"; }
equal "ping against ideal" "$(ideal 1)" 1.0
equal "an incast against ideal" "$(ideal 2)" 1.0
within "bit-reversal against ideal" "$(ideal 3)" 1.2 3

# Routed by the destination alone it takes longer; the report says what to try, and that helps.
tailback replay -q job.goal -n qsnet,ascent=deterministic -o fixed.db
read_report fixed.db
try another-ascent
within "adaptive against deterministic" "$(sqlite3 fixed.db "ATTACH 'adaptive.db' AS other; SELECT 1.0 * b.simulated_ps /
	a.simulated_ps FROM main.run AS a, other.run AS b")" 0.2 0.8

# What does a dead cable do? Packets wait longer around it; and without it the run is as it was.
tailback synth uniform --nodes 16 --message 32K --messages 6 -o uniform.goal
tailback replay -q uniform.goal -n qsnet,levels=2 -o sound.db
tailback replay -q uniform.goal -n qsnet,levels=2 --fault link=0.1:4 --fault link=0.1:5 --fault link=0.1:6 -o faulty.db
read_report faulty.db
[[ -n $(sentence without-faults) ]] || fail "the faults go without a word"
try without-faults
tailback compare faulty.db whole.db --full | grep -q 'The run takes .* less .* in B than in A, and packets wait .* less' ||
	fail "$(tailback compare faulty.db whole.db | sed -n 4p)"
diff <(sqlite3 sound.db 'SELECT * FROM link_total') <(sqlite3 whole.db 'SELECT * FROM link_total')
# One that dies under way: what had to be sent again is counted as the store counts it.
tailback replay -q uniform.goal -n qsnet,levels=2 --fault link=0.1:4@100us -o dies.db
read_report dies.db
equal "packets sent again" "$(figure dead-links retries)" "$(sqlite3 dies.db 'SELECT n_retries FROM run')"
within "packets sent again" "$(figure dead-links retries)" 1 1000

# Who caused the incast, from when to when? All nodes of a job send to one, beside other traffic.
for n in 16 64; do
	tailback synth hot-spot --nodes $n --message 16K --messages 3 --hot 5 -o incast.goal
	tailback synth uniform --nodes $n --message 16K --messages 40 --load 0.2 -o other.goal
	tailback replay -q --job other.goal,nodes=0-$((n - 1)) --nodes 256 \
		--job incast.goal,start=300us,nodes=128-$((127 + n)) -o incast$n.db
	read_report incast$n.db
	equal "the incast of $n" "$(figure incast node) $(figure incast senders)" "133 $((n - 1))"
	# The queue stands when the first packet has been posted, issued and sent.
	within "begin of the incast of $n" "$(figure incast begin_ps)" 300000000 302000000
	equal "end of the incast of $n" "$(figure incast end_ps)" \
		"$(sqlite3 incast$n.db 'SELECT max(last_ps) FROM flow WHERE job = 1')"
	within "share of the incast of $n" "$(figure incast percent_of_wait)" 20 100
	grep -q "Incast at node 133: $((n - 1)) nodes sent to it between 30[01]\(\.[0-9]*\)* us and" sentences || fail "$(cat sentences)"
done
try second-rail
within "with a second rail" "$(sqlite3 incast64.db "ATTACH 'rails.db' AS other; SELECT 1.0 * b.last / a.last FROM
	(SELECT max(last_ps) - 300000000 AS last FROM main.flow WHERE job = 1) AS a,
	(SELECT max(last_ps) - 300000000 AS last FROM other.flow WHERE job = 1) AS b")" 0.2 0.95
# No incast where all nodes send to all, or where two send to one.
tailback synth alltoall --nodes 64 --size 2K -o alltoall.goal
tailback replay -q alltoall.goal -o none.db
read_report none.db
equal "incasts of an all-to-all" "$(figure incast node)" ""
equal "traffic of an all-to-all" "$(sentence traffic)" ""
printf '1->0 id 1 start 0 size 1000000\n2->0 id 2 start 0 size 1000000\n' >two.flows
printf 'Nodes 16\nConnections 2\n' | cat - two.flows >two.cm
tailback replay -q two.cm -n qsnet,levels=2 -o two.db
read_report two.db
equal "incasts of two senders" "$(figure incast node)" ""

# Of a capture: 12 clients write to 4 servers, nodes 12 to 15, in three bursts.
if there io16_200m.pcap.zst io16_200m.phases.txt; then
	scale=0.05
	tailback replay -q "$captures/io16_200m.pcap.zst" --time-scale $scale -o io.db
	read_report io.db
	equal "servers at once" "$(figure incast nodes)" 4
	within "incast at" "$(figure incast node)" 12 15
	# Not all packets are kept, each by itself: who sent is between two bounds.
	within "senders" "$(figure incast senders)" 8 12
	equal "senders at most" "$(figure incast senders_at_most)" 12
	equal "bursts" "$(figure incast times)" 3
	# From the first burst of writes to the last, as the clients logged them, and what is
	# still queued then.
	begin=$(awk '/io_write_burst0/ { print $1 }' "$captures/io16_200m.phases.txt")
	end=$(awk '/done burst2/ && $1 > end { end = $1 } END { print end }' "$captures/io16_200m.phases.txt")
	within "begin of the incast" "$(figure incast begin_ps)" \
		"$(awk "BEGIN { print $begin * $scale * 1e12 }")" "$(awk "BEGIN { print ($begin + 0.3) * $scale * 1e12 }")"
	within "end of the incast" "$(figure incast end_ps)" \
		"$(awk "BEGIN { print ($end - 0.3) * $scale * 1e12 }")" "$(awk "BEGIN { print ($end + 0.3) * $scale * 1e12 }")"
	[[ $(sentence traffic) == *'traffic to leaf 0.3 for other traffic to it (9'* ]] || fail "traffic: $(sentence traffic)"
	try spread-servers
	tailback compare io.db spread.db | grep -q 'The run takes' || fail "the two runs do not compare"
	# The first screen of a closed loop has the incasts, too, behind what was recorded of them.
	tailback replay -q "$captures/io16_200m.pcap.zst" --closed-loop --no-check -n ethernet,rate=200Mbit/s -o loop.db
	screen=$(tailback report loop.db | sed '/^Worth trying/,$d' | tr '\n' ' ')
	[[ $screen == *'Recorded at node 15 '*retransmissions*'Incast at 4 nodes at once: node 15 '* ]] ||
		fail "the first screen has no incast: $screen"
fi
