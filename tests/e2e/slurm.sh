# docs/slurm/shards.sh on a private Slurm cluster of this machine alone: a sweep and replays as job
# arrays give the stores of one machine, and a task that is put back into the queue resumes.
set -euo pipefail
for tool in slurmctld slurmd sbatch scontrol unshare ip; do
	command -v $tool >/dev/null || {
		echo "skipped: no $tool (Debian: slurmctld, slurmd, slurm-client, util-linux, iproute2)"
		exit 77
	}
done
[[ $(id -u) == 0 ]] || {
	echo "skipped: slurmd runs jobs as root only"
	exit 77
}
# In a network of its own no port is anybody else's. Beside 127.0.0.1 it has an address, without which
# nobody listens on all.
if [[ -z ${INSIDE-} ]]; then
	unshare --net true 2>/dev/null || {
		echo "skipped: network namespaces are not allowed here"
		exit 77
	}
	INSIDE=1 exec unshare --net bash "$0"
fi
ip link set lo up
ip addr add 10.9.0.1/32 dev lo
work=$(mktemp -d)
daemons=()
finish()
{
	scancel --state=PENDING,RUNNING --user=root 2>/dev/null || true
	[[ ${#daemons[@]} == 0 ]] || kill "${daemons[@]}" 2>/dev/null || true
	wait 2>/dev/null || true
	rm -rf "$work"
}
trap finish EXIT
trap 'echo "line $LINENO: $BASH_COMMAND"; tail -n 5 ./*.log ./*.shards/*.log 2>/dev/null' ERR
cd "$work"
. "$TB_SOURCE/tests/support/stores.sh"
mkdir bin state spool
ln -s "$TAILBACK" bin/tailback
export PATH=$work/bin:$PATH SLURM_CONF=$work/slurm.conf

# No munge, no cgroups, no accounting: what one user needs on one machine.
host=$(hostname -s)
cat >slurm.conf <<END
ClusterName=test
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
SlurmctldPort=6817
SlurmdPort=6818
AuthType=auth/none
AuthInfo=cred_expire=5
CredType=cred/none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
SlurmdParameters=config_overrides
SchedulerParameters=sched_interval=1,batch_sched_delay=0
SlurmctldPidFile=$work/slurmctld.pid
SlurmdPidFile=$work/slurmd.pid
StateSaveLocation=$work/state
SlurmdSpoolDir=$work/spool
NodeName=$host NodeAddr=127.0.0.1 CPUs=2 State=UNKNOWN
PartitionName=all Nodes=$host Default=YES State=UP
END
slurmctld -D -f slurm.conf >slurmctld.log 2>&1 &
daemons+=($!)
slurmd -D -f slurm.conf -N "$host" >slurmd.log 2>&1 &
daemons+=($!)
for ((i = 0; ; i++)); do
	[[ $(sinfo -h -o %T 2>/dev/null) == idle ]] && break
	kill -0 "${daemons[@]}" 2>/dev/null && ((i < 1200)) || {
		echo "skipped: Slurm does not start here: $(grep -h -m 1 -E 'fatal|error' slurmctld.log slurmd.log)"
		exit 77
	}
	sleep 0.1
done

cat >sweep.ini <<'INI'
[sweep]
experiment = uniform, shuffle
nodes = 16
message = 64K
load = 0.5, 1
warm = 1ms
window = 2ms
seed = 1..3
INI

# merged STORE: waits for the job that merges, named in `told`. A busy controller may not answer for once.
merged()
{
	local job state
	job=$(sed -n 's/.*job \([0-9]*\) merges.*/\1/p' told)
	for ((i = 0; i < 3000; i++)); do
		state=$(scontrol show job "$job" 2>/dev/null | sed -n 's/.*JobState=\([A-Z_]*\).*/\1/p') || true
		case $state in
		COMPLETED) return ;;
		FAILED | CANCELLED | TIMEOUT | NODE_FAIL) break ;;
		esac
		sleep 0.1
	done
	echo "$1 is not merged: job $job is $state"
	squeue
	tail -n 5 "$1".shards/*.log
	exit 1
}

tailback sweep sweep.ini -q -o one.db
"$TB_SOURCE/docs/slurm/shards.sh" 4 all.db sweep sweep.ini >told
merged all.db
expect_same_rows one.db all.db
grep -q '3 points in all.db.shards/2.db (shard 2/4): 3 run' all.db.shards/2.log
code=0
"$TB_SOURCE/docs/slurm/shards.sh" 4 all.db sweep sweep.ini 2>said || code=$?
[[ $code == 1 ]] && grep -q 'all.db is there already' said

tailback synth uniform --nodes 16 --message 16K --messages 5 -o a.goal
tailback synth shuffle --nodes 16 --message 16K --messages 5 -o b.goal
tailback replay a.goal b.goal --each -s 1..2 -q -o replays.db
TAILBACK_CPUS=2 "$TB_SOURCE/docs/slurm/shards.sh" 3 r.db replay a.goal b.goal --each -s 1..2 >told
merged r.db
expect_same_rows replays.db r.db

# A task is taken from its node in the middle of its second point, which is a long one, and goes on later.
cat >long.ini <<'INI'
[sweep]
experiment = uniform
nodes = 16
message = 64K
load = 1
warm = 1ms
window = 2ms, 160ms
seed = 1..2
INI
tailback sweep long.ini -q -o long.db
"$TB_SOURCE/docs/slurm/shards.sh" 2 requeued.db sweep long.ini >told
array=$(sed -n 's/^job \([0-9]*\) runs.*/\1/p' told)
until [[ $(store_count requeued.db.shards/1.db run) -ge 1 ]]; do
	sleep 0.02
done
if [[ -e requeued.db ]] || ! scontrol requeue "${array}_1"; then
	echo "the task was over before it was taken"
fi
merged requeued.db
expect_same_rows long.db requeued.db
grep -qE '1 were done before, 1 run|2 run' requeued.db.shards/1.log
