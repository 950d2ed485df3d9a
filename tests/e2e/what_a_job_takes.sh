# Three questions of a user: which job slows which (mix64_mtu); what does my job take on an idle
# network; does another placement help job X. Each is answered by a report or a comparison.
set -eu
# shellcheck source=tests/support/captures.sh
. "$TB_SOURCE/tests/support/captures.sh"

# figures STORE JOB NAME: a figure of the list of job times, by its name in CSV.
figures() {
	"$TAILBACK" report "$1" -f csv --list job-times | awk -F, -v job="$2" -v name="$3" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) at = i } $1 == job { print $at }'
}
in_order() { awk -v a="$2" -v b="$3" 'BEGIN { exit !(a < b) }' || { echo "$1: expected $2 < $3"; exit 1; }; }

# Which job slows which. Fifty times as dense, LAMMPS and the collectives, on every other node, hold
# each other up; the storage has its own quarter of the network and notices nothing of them.
"$TAILBACK" replay -q "$captures/mix64_mtu.pcap.zst" --split-jobs=lammps,collectives,storage --time-scale 0.02 \
	--alone -o "$store"
for job in 0 1; do
	in_order "latency of job $job, alone and not" "$(figures "$store" $job alone_mean_latency_ps)" "$(figures "$store" $job mean_latency_ps)"
	in_order "latency of job $job, ideal and alone" "$(figures "$store" $job ideal_mean_latency_ps)" "$(figures "$store" $job alone_mean_latency_ps)"
done
is "what the others cost the storage" "$(figures "$store" 2 others_cost_ps)" 0
is "its latency, alone" "$(figures "$store" 2 alone_mean_latency_ps)" "$(figures "$store" 2 mean_latency_ps)"
in_order "what the network costs the storage" 500000000 "$(figures "$store" 2 network_costs_ps)"
is "who waits for whom" "$(ask "SELECT group_concat(victim_job || ' for ' || culprit_job, ', ') FROM job_blame
	WHERE victim_job <> culprit_job ORDER BY 1")" "collectives for lammps, lammps for collectives"
"$TAILBACK" report --full "$store" >"$scratch/report"
grep -q '^How long the jobs take$' "$scratch/report"
grep -qE '^ +storage .* 0 ps ' "$scratch/report"

# The same in the viewer's panels, of the run and of a job.
printf '%s\n' 'expect jobs, and their run times' 'expect 115.1 ms' 'key /' 'type storage' 'key Return' 'expect run time' \
	'expect the others cost it' 'expect 0 ps' 'expect the network costs it' 'expect latency of a message, mean' \
	>"$scratch/steps"
SDL_VIDEODRIVER=dummy "$TAILBACK" view "$store" --script "$scratch/steps"

# Does another placement help? At random, all meet all: in words, and by how much of which part. Of one seed it is no verdict.
"$TAILBACK" replay -q --job "$captures/mix64_mtu.pcap.zst,placement=random" --split-jobs=lammps,collectives,storage \
	--time-scale 0.02 --alone -o "$scratch/random.db"
"$TAILBACK" compare --full "$store" "$scratch/random.db" --top 3 >"$scratch/compared"
cost() { echo "$(figures "$1" 0 mean_latency_ps) - $(figures "$1" 0 alone_mean_latency_ps)"; } # in latency, of LAMMPS
more=$(awk "BEGIN { printf \"%.4g\", ($(cost "$scratch/random.db") - ($(cost "$store"))) / 1e6 }")
grep -E '^Job lammps has no verdict: it takes as long, and its messages take ' "$scratch/compared" |
	grep -qF ": the others cost it $more us more," || { cat "$scratch/compared"; exit 1; }
in_order "latency of the storage at random, alone and not" "$(figures "$scratch/random.db" 2 alone_mean_latency_ps)" \
	"$(figures "$scratch/random.db" 2 mean_latency_ps)"

# A closed-loop job beside another: what it takes on an idle network, and where it had better sit.
# Dealt to all leaves in turn, the two share up-links; each on leaves of its own, they never meet.
cd "$scratch"
"$TAILBACK" synth alltoall --nodes 16 --size 32KB -o all.goal
"$TAILBACK" synth bit-reversal --nodes 16 --message 64KB --messages 8 -o io.goal
for place in cyclic block; do
	"$TAILBACK" replay -q --job "all.goal,placement=$place,name=mine" --job "io.goal,placement=$place,name=theirs" \
		--alone -o $place.db
done
in_order "mine, alone and not, where both meet" "$(figures cyclic.db 0 alone_ps)" "$(figures cyclic.db 0 run_ps)"
is "what the others cost mine, apart" "$(figures block.db 0 others_cost_ps)" 0
is "what mine costs the others, apart" "$(figures block.db 1 others_cost_ps)" 0
in_order "mine, ideal and alone" "$(figures block.db 0 ideal_ps)" "$(figures block.db 0 alone_ps)"
"$TAILBACK" compare --full cyclic.db block.db >placed
for job in mine theirs; do
	grep -qE "^Job $job (gains|loses|has no verdict): .*: the others cost it [0-9.]+ us less, the network costs it" placed || {
		cat placed
		exit 1
	}
done
# On a network that is idle but for it: what a run of its own says, where no header draws.
for jobs in "--job io.goal,placement=block" ""; do
	rm -f own.db
	# shellcheck disable=SC2086
	"$TAILBACK" replay -q -n qsnet,ascent=deterministic --job "all.goal,placement=block" $jobs --alone -o own.db
	echo "$(figures own.db 0 alone_ps), $(figures own.db 0 ideal_ps)" >>idle
done
is "mine on an idle network" "$(sed -n 1p idle)" "$(sed -n 2p idle)"
