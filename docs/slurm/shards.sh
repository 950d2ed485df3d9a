#!/bin/bash
# Runs a sweep, or several replays, as a job array of Slurm, and merges the shards.
#
#   ./shards.sh N ALL.db COMMAND [ARGUMENT...]
#   ./shards.sh 16 figure-11.db sweep 000-figure-11.ini
#   ./shards.sh 8 all.db replay *.goal --each --seed 1..5
#
# It submits N tasks, each of which runs one shard into ALL.db.shards/, and a job that merges them
# into ALL.db when all have succeeded. Run it on a login node, in a folder that the compute nodes
# see. Options of sbatch go through its environment: SBATCH_PARTITION, SBATCH_TIMELIMIT,
# SBATCH_ACCOUNT, ... TAILBACK_CPUS is how many processors each task gets (1).
#
# A task that loses its node, or is preempted, is put back into the queue and goes on with the points
# that are not done. So does a task that ran out of time, or failed, when the same command is given
# again: shards that are done end at once.
#
#SBATCH --job-name=tailback
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --signal=B:TERM@60
set -euo pipefail

n=${1:?"usage: shards.sh N ALL.db COMMAND [ARGUMENT...]"}
all=${2:?"a store is missing: shards.sh N ALL.db COMMAND [ARGUMENT...]"}
shift 2
: "${1:?"a command is missing: sweep or replay, with its arguments"}"
shards=$all.shards

case ${TAILBACK_STEP-submit} in
submit)
	if [[ -e $all ]]; then
		echo "shards.sh: $all is there already" >&2
		exit 1
	fi
	mkdir -p "$shards"
	array=$(TAILBACK_STEP=shard sbatch --parsable --array="1-$n" \
		--cpus-per-task="${TAILBACK_CPUS:-1}" --output="$shards/%a.log" "$0" "$n" "$all" "$@")
	merge=$(TAILBACK_STEP=merge sbatch --parsable --dependency="afterok:$array" \
		--kill-on-invalid-dep=yes --output="$shards/merge.log" "$0" "$n" "$all" "$@")
	echo "job $array runs $n shards, job $merge merges them into $all; their messages are in $shards/"
	;;
shard)
	# exec, so that tailback gets Slurm's signals: it stops, and what is done is kept.
	exec tailback "$@" --shard "$SLURM_ARRAY_TASK_ID/$n" --jobs "${SLURM_CPUS_PER_TASK:-1}" \
		-o "$shards/$SLURM_ARRAY_TASK_ID.db"
	;;
merge)
	exec tailback sweep merge "$shards"/*.db -o "$all"
	;;
esac
