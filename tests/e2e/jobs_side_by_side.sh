# Jobs side by side: where they share no link each goes as if alone, later by its start; where they
# do, the store says who waited for whom, to the picosecond. The same command gives the same store.
set -eu
. "$TB_SOURCE/tests/support/stores.sh"
command -v sqlite3 >/dev/null || {
	echo "skipped: no sqlite3"
	exit 77
}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
replay() { "$TAILBACK" replay -q -n qsnet,ascent=deterministic "$@"; }
"$TAILBACK" synth uniform --nodes 16 --message 8K --messages 3 -o a.goal
"$TAILBACK" synth transpose --nodes 16 --message 24K --messages 2 -o b.goal

# Nodes 0-15 and 48-63 are subtrees that have no switch in common on their ways.
figures_of() {
	sqlite3 "$1" "SELECT source % 16, destination % 16, messages, latency_ps, worst_latency_ps, wait_ps,
		first_ps - start_ps, last_ps - start_ps FROM flow JOIN job USING (run, job) WHERE name = '$2' ORDER BY 1, 2"
}
replay a.goal -o alone.db
replay b.goal -o alone.db
replay --job a.goal,name=a.goal --job b.goal,nodes='node[48-63]',start=7us -o both.db
for job in a b; do
	figures_of alone.db $job.goal >alone
	figures_of both.db $job.goal >both
	[[ $(wc -l <alone) -ge 12 ]]
	cmp alone both
done

# Dealt like cards to the same switches they hold each other up.
for i in 1 2; do
	replay a.goal --job b.goal,placement=cyclic --job a.goal,placement=random,start=20us,name=c --seed 3 -o mixed$i.db
	store_rows mixed$i.db >dump$i
done
cmp dump1 dump2
ask() { sqlite3 mixed1.db "$1"; }
[[ $(ask "SELECT count(*) FROM job_blame WHERE victim_job <> culprit_job") -ge 2 ]]
[[ $(ask "SELECT count(DISTINCT node) FROM job_node") == 48 ]]
[[ $(ask "SELECT count(*) FROM (SELECT link, sum(wait_ps) AS w FROM job_link GROUP BY link) AS b
	JOIN link_total AS t USING (link) WHERE b.w <> t.came_by_ps") == 0 ]]
[[ $(ask "SELECT sum(wait_ps) FROM flow") == $(ask "SELECT sum(came_by_ps) FROM link_total") ]]
[[ $(ask "SELECT count(*) FROM (SELECT victim_job AS job, sum(wait_ps) AS w FROM job_wait GROUP BY 1) AS b
	JOIN (SELECT job, sum(wait_ps) AS w FROM flow GROUP BY 1) AS f USING (job) WHERE b.w = f.w") == 3 ]]
