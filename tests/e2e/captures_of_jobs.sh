# mix64_mtu holds three jobs at once: LAMMPS rank k on node 2k, collectives rank k on node 2k + 1 (24
# each), clients 48-59 and servers 60-63. They are found by who talks to whom, or told by a map, and
# come out with waits and blame between them.
set -eu
# shellcheck source=tests/support/captures.sh
. "$TB_SOURCE/tests/support/captures.sh"
there captures/mix64_mtu.pcap.zst || exit 77

lammps=$(seq -s, 0 2 46)
collectives=$(seq -s, 1 2 47)
storage=$(seq -s, 48 63)
nodes_of() { ask "SELECT group_concat(node) FROM (SELECT node FROM job_node JOIN job USING (run, job) WHERE name = '$1' ORDER BY node)"; }
phase_of() { ask "SELECT $2 FROM phase WHERE name LIKE '$1'"; }

# As it was captured: each job has switches of its own or nearly so, and begins and ends when its phases do.
replay mix64_mtu.pcap.zst --split-jobs
read_phases mix64_mtu.phases.txt
size 64 926
is "jobs" "$(ask "SELECT n_jobs FROM run")" 3
is "LAMMPS" "$(nodes_of 'group 1')" "$lammps"
is "collectives" "$(nodes_of 'group 2')" "$collectives"
is "storage" "$(nodes_of 'group 3')" "$storage"
is "what came to no job" "$(ask "SELECT sum(messages) = (SELECT n_messages FROM run) FROM flow")" 1
# LAMMPS ends at 5.794 s, the collectives at 5.395 s, the storage at 7.820 s.
within "end of LAMMPS" "$(ask "SELECT last_us / 1e6 FROM job_summary WHERE job = 0")" 5.7 5.8
within "end of the collectives" "$(ask "SELECT last_us / 1e6 FROM job_summary WHERE job = 1")" 5.1 5.4
within "end of the storage" "$(ask "SELECT last_us / 1e6 FROM job_summary WHERE job = 2")" 7.75 7.85
# In its phases the collectives' job moves what they move, beside the others' traffic.
ask "SELECT name FROM phase" >"$scratch/names"
is "phases" "$(grep -c bytes= "$scratch/names")" 10
within "all-to-all" "$(bytes_in 'alltoall bytes=32768 %')" $((24 * 23 * 32768)) 100000000
before=$(ask "SELECT sum(wait_us) FROM moment WHERE at_s < 2.7")
after=$(ask "SELECT sum(wait_us) FROM moment WHERE at_s BETWEEN 2.7 AND 5.8")
within "wait before the jobs' phases" "$before" 0 "$(ask "SELECT $after / 100")"

# Twenty times as dense, all on nodes at random: every job holds up both others.
rm "$store"
"$TAILBACK" replay -q --job "$captures/mix64_mtu.pcap.zst,placement=random" --split-jobs --time-scale 0.05 -o "$store"
is "who delays whom" "$(ask "SELECT group_concat(pair) FROM (SELECT victim_job || '<' || culprit_job AS pair FROM job_wait
	GROUP BY 1 HAVING sum(wait_ps) > 1e6 ORDER BY 1)")" "0<0,0<1,0<2,1<0,1<1,1<2,2<0,2<1,2<2"
is "blame by link" "$(ask "SELECT count(*) FROM (SELECT link, sum(wait_ps) AS w FROM job_link GROUP BY link) AS b
	JOIN link_total AS t USING (link) WHERE b.w <> t.came_by_ps")" 0
is "blame by job" "$(ask "SELECT count(*) FROM (SELECT victim_job AS job, sum(wait_ps) AS w FROM job_wait GROUP BY 1) AS b
	JOIN (SELECT job, sum(wait_ps) AS w FROM flow GROUP BY 1) AS f USING (job) WHERE b.w = f.w")" 3

# By a map, with names, and by the report.
for node in $(seq 0 63); do
	job=storage
	[[ $node -ge 48 ]] || job=$([[ $((node % 2)) == 0 ]] && echo lammps || echo collectives)
	echo "10.77.0.$((node + 1)) $node $job"
done >"$scratch/map"
replay mix64_mtu.pcap.zst --map "$scratch/map" --time-scale 0.05
is "jobs by map" "$(ask "SELECT group_concat(name) FROM job")" "lammps,collectives,storage"
is "LAMMPS by map" "$(nodes_of lammps)" "$lammps"
"$TAILBACK" report "$store" -f csv --list jobs | cut -d, -f2,7 >"$scratch/jobs"
is "the report's jobs" "$(tail -n +2 "$scratch/jobs" | tr '\n' ' ')" "lammps,24 collectives,24 storage,16 "
"$TAILBACK" report --full "$store" | grep -A5 '^Which job makes which wait' >"$scratch/matrix"
grep -qE '^ +Waits \\ for +lammps +collectives +storage +All' "$scratch/matrix"
within "LAMMPS and the collectives meet" "$(ask "SELECT sum(wait_us) FROM job_blame WHERE victim_job <> culprit_job")" 1 1e9
