# Whose wait it is, for whom, for which root and when: each sum in the store is the wait by link, to the picosecond,
# whatever the traffic, from 16 to 4096 nodes, with several jobs, rails and a host library; and what the heaviest rows
# leave out lies within their bounds. An incast has the tree that it must have.
set -eu
command -v sqlite3 >/dev/null || {
	echo "skipped: no sqlite3"
	exit 77
}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
ask() { sqlite3 run.db "$1"; }
is() {
	[[ $1 == "$2" ]] || {
		echo "$3: $1, expected $2"
		exit 1
	}
}

# A sum by job has no rows where all that waited was of job 0: then it is that of link_total.
sums="SELECT 'roots', sum(wait_ps) FROM root_total
	UNION ALL SELECT 'roots by time', sum(wait_ps) FROM root_bin
	UNION ALL SELECT 'jobs by time', sum(wait_ps) FROM job_wait
	UNION ALL SELECT 'roots by job', coalesce((SELECT sum(wait_ps) FROM root_job), sum(came_by_ps)) FROM link_total
	UNION ALL SELECT 'links by job', coalesce((SELECT sum(wait_ps) FROM job_link), sum(came_by_ps)) FROM link_total
	UNION ALL SELECT 'links by culprit', coalesce((SELECT sum(blamed_ps) FROM job_link), sum(came_by_ps)) FROM link_total
	UNION ALL SELECT 'levels', sum(wait_ps) FROM level_bin
	UNION ALL SELECT 'waiting flows', sum(wait_ps) FROM flow
	UNION ALL SELECT 'holding flows', sum(blamed_ps) FROM flow"

# Each of these has no rows where sums agree one by one.
differences="SELECT 'link', link FROM link_total JOIN (SELECT link, sum(wait_ps) AS w, sum(blamed_ps) AS b FROM job_link
		GROUP BY link) USING (link) WHERE came_by_ps <> w OR came_by_ps <> b
	UNION ALL SELECT 'root over time', root FROM root_total JOIN (SELECT root, sum(wait_ps) AS w FROM root_bin
		GROUP BY root) USING (root) WHERE wait_ps <> w
	UNION ALL SELECT 'root over jobs', root FROM root_total JOIN (SELECT root, sum(wait_ps) AS w, sum(waits) AS n
		FROM root_job GROUP BY root) USING (root) WHERE wait_ps <> w OR waits <> n
	UNION ALL SELECT 'slice', bin FROM (SELECT bin, sum(wait_ps) AS a FROM root_bin GROUP BY bin)
		JOIN (SELECT bin, sum(wait_ps) AS b FROM job_wait GROUP BY bin) USING (bin) WHERE a <> b
	UNION ALL SELECT 'slice and bins', a.bin FROM (SELECT bin, sum(wait_ps) AS w FROM root_bin GROUP BY bin) AS a
		JOIN (SELECT bin * bin_ps / root_bin_ps AS slice, sum(came_by_ps) AS w FROM bin_total JOIN run USING (run)
		GROUP BY slice) AS b ON a.bin = b.slice JOIN run WHERE root_bin_ps % bin_ps = 0 AND a.w <> b.w
	UNION ALL SELECT 'waiting job', job FROM job_total AS t WHERE wait_ps <>
		(SELECT total(wait_ps) FROM job_wait WHERE victim_job = t.job)
	UNION ALL SELECT 'holding job', job FROM job_total AS t WHERE blamed_ps <>
		(SELECT total(wait_ps) FROM job_wait WHERE culprit_job = t.job)
	UNION ALL SELECT 'job over links', job FROM job_total JOIN (SELECT job, sum(wait_ps) AS w, sum(blamed_ps) AS b
		FROM job_link GROUP BY job) USING (job) WHERE wait_ps <> w OR blamed_ps <> b
	UNION ALL SELECT 'flows of a job', job FROM job_total JOIN (SELECT job, sum(wait_ps) AS w, sum(blamed_ps) AS b
		FROM flow GROUP BY job) USING (job) WHERE wait_ps <> w OR blamed_ps <> b"

# What a row surely waited, and may have at most, must be in agreement with the sums; what is left out is as large as
# blame_list says.
rows="SELECT 'blame_wait' AS list, sum(wait_ps) AS w FROM blame_wait
	UNION ALL SELECT 'blame_bin', sum(wait_ps) FROM blame_bin UNION ALL SELECT 'tree_bin', sum(wait_ps) FROM tree_bin
	UNION ALL SELECT grouping, sum(wait_ps) FROM blame_group GROUP BY grouping"
bounds="SELECT list, 'rest' FROM blame_list JOIN ($rows) USING (list)
		WHERE rest_ps <> (SELECT sum(came_by_ps) FROM link_total) - w OR rest_ps < 0
	UNION ALL SELECT list, 'floor' FROM blame_list WHERE (rest_ps > 0 AND floor_ps = 0)
	UNION ALL SELECT 'link', link FROM link_total JOIN (SELECT link, sum(wait_ps) AS w FROM blame_wait GROUP BY link)
		USING (link) WHERE w > came_by_ps
	UNION ALL SELECT 'root', root FROM root_total JOIN (SELECT root, sum(wait_ps) AS w FROM tree_bin GROUP BY root)
		USING (root) WHERE w > wait_ps
	UNION ALL SELECT 'destination', victim FROM blame_group JOIN (SELECT destination AS victim, sum(wait_ps) AS w FROM flow
		GROUP BY destination) USING (victim) WHERE grouping = 'destination' AND wait_ps > w"

check() { # NAME
	local wait
	wait=$(ask "SELECT sum(came_by_ps) FROM link_total")
	[[ $wait -gt 0 ]] || {
		echo "$1: nothing waited"
		exit 1
	}
	is "$(ask "WITH s (name, w) AS ($sums) SELECT * FROM s WHERE w IS NOT $wait")" "" "$1, sums unlike $wait"
	is "$(ask "$differences")" "" "$1, sums that differ"
	is "$(ask "$bounds")" "" "$1, bounds"
	"$TAILBACK" info --json run.db | grep -q '"unattributed_ps": 0,' || {
		echo "$1: waits that no sum holds"
		exit 1
	}
}

run() { # NAME, options of replay
	local name=$1
	shift
	rm -f run.db
	"$TAILBACK" replay -q "$@" -o run.db
	check "$name"
}

for nodes in 16 64 256 1024; do
	few=$((nodes > 256 ? 1 : nodes > 64 ? 2 : 4))
	for pattern in uniform hot-spot bit-reversal; do
		"$TAILBACK" synth $pattern --nodes $nodes --message 1K --messages $few -o job.goal
		run "$pattern on $nodes" --nodes $nodes job.goal
	done
	[[ $nodes -gt 64 ]] && continue
	"$TAILBACK" synth alltoall --nodes $nodes --size 1K -o job.goal
	run "all-to-all on $nodes" --nodes $nodes job.goal
done

"$TAILBACK" synth uniform --nodes 64 --message 8K --messages 3 -o a.goal
"$TAILBACK" synth transpose --nodes 64 --message 8K --messages 2 -o b.goal
run "two jobs" --nodes 256 --job a.goal,placement=random --job b.goal,placement=random
[[ $(ask "SELECT count(*) FROM job_wait WHERE victim_job <> culprit_job") -ge 2 ]]
[[ $(ask "SELECT count(*) FROM root_job") -gt $(ask "SELECT count(*) FROM root_total") ]]
run "two rails" -n qsnet,rails=2 a.goal
run "two jobs on two rails" --nodes 256 -n qsnet,rails=2 --job a.goal,placement=random --job b.goal,placement=random
run "host library" -n qsnet2,host=mpi a.goal
run "fixed bins" --bin 20us a.goal

# 15 nodes send to node 0 at once: all that waits does so, in the end, for the link to it, from the first message on
# and until the last has come, and everywhere along the ways.
"$TAILBACK" synth hot-spot --nodes 16 --message 4K --messages 4 -o job.goal
run "incast" job.goal
is "$(ask "SELECT group_concat(root) FROM congestion_roots")" "0.0 > node 0" "the roots of an incast"
is "$(ask "SELECT wait_us FROM congestion_roots")" "$(ask "SELECT round(sum(came_by_ps) / 1e6, 3) FROM link_total")" "its wait"
is "$(ask "SELECT min(bin) FROM root_bin")" 0 "when its tree was born"
is "$(ask "SELECT max(bin) - simulated_ps / root_bin_ps BETWEEN -1 AND 0 FROM root_bin JOIN run USING (run)")" 1 \
	"when it dissolved"
is "$(ask "SELECT count(*) FROM link_total WHERE came_by_ps > 0 AND link NOT IN (SELECT link FROM tree_bin)")" 0 \
	"links that wait outside its tree"
is "$(ask "SELECT sum(t.came_by_ps <> b.w) FROM link_total AS t JOIN (SELECT link, sum(wait_ps) AS w FROM tree_bin
	GROUP BY link) AS b USING (link)")" 0 "links that wait for another root too"
is "$(ask "SELECT group_concat(victim || ' for ' || culprit || ' ' || percent) FROM blame_groups
	WHERE grouping = 'destination'")" "node 0 for node 0 100.0" "its destinations"
is "$(ask "SELECT count(*) FROM destination_wait WHERE wait_us > 0")" 1 "destinations that waited"

# So do those of larger ones, however many links lie between: a header that follows the token of another one through
# its switches without a wait is as slow as the link to node 0.
for nodes in 64 4096; do
	"$TAILBACK" synth hot-spot --nodes $nodes --message 2K --messages 1 -o job.goal
	run "incast on $nodes" --nodes $nodes job.goal
	is "$(ask "SELECT root || ' ' || percent FROM congestion_roots LIMIT 1")" "0.0 > node 0 100.0" "its root"
	is "$(ask "SELECT count(*) FROM congestion_roots")" 1 "its roots"
done
is "$(ask "SELECT min(bin) FROM root_bin JOIN link_name ON link = root WHERE name = '0.0 > node 0'")" 0 "its birth"

# What waits behind packets of its own flow is blamed on what these wait for: traffic to node 1 that shares a spine's
# link with an incast at node 0 waits for that alone, whether pauses or credits hold it up.
bash "$TB_SOURCE/tests/support/victim_goal.sh" >victim.goal
for network in roce-100 ib-hdr; do
	run "victim on $network" victim.goal -n $network,arity=4,levels=2,ascent=ecmp --seed 2
	is "$(ask "SELECT sum(at_least_us * (culprit = 'node 1')) * 100 < sum(at_least_us) FROM blame_groups
		WHERE grouping = 'destination' AND victim = 'node 1'")" 1 "an incast's victim waits for itself"
done
