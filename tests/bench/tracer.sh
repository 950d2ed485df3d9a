# What tracing costs: nanoseconds that it adds to a call, and bytes of a record.
set -euo pipefail
n=200000
[[ ${1-} == --smoke ]] && n=1000
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
. "$TB_SOURCE/tests/support/mpi.sh"
use_mpi "$work"
measured=
if [[ -e $(dirname "$TAILBACK")/tailback-trace-sockets.so ]] && command -v cc >/dev/null; then
	cc -O2 -w -pthread -o calls "$TB_SOURCE/tests/e2e/sockets/calls.c"
	call="" traced_call=""
	for _ in 1 2 3 4 5; do # the least, in turns
		one=$(./calls cost $n)
		((${call:-$one} < one)) || call=$one
		one=$("$TAILBACK" trace --sockets -o job.tbt -- ./calls cost $n 2>said)
		((${traced_call:-$one} < one)) || traced_call=$one
	done
	records=$(sed -n 's/^1 rank, \([0-9,]*\) records.*/\1/p' said | tr -d ,)
	echo "trace_sockets_call,$((traced_call - call)),ns"
	echo "trace_sockets_record,$(($(stat -c %s job.tbt) / records)),B"
	measured=1
fi
for mpi in openmpi mpich; do
	[[ -e $(dirname "$TAILBACK")/tailback-trace-$mpi.so ]] && command -v "mpicc.$mpi" >/dev/null || continue
	"mpicc.$mpi" -O2 -w -o cost "$TB_SOURCE/tests/e2e/tracer/cost.c"
	read -r call test < <(timeout 250 "mpirun.$mpi" -n 1 ./cost $n)
	timeout 250 "$TAILBACK" trace -o job.tbt -- "mpirun.$mpi" -n 1 ./cost $n >traced 2>said
	read -r traced_call traced_test <traced
	records=$(sed -n 's/^1 rank, \([0-9,]*\) records.*/\1/p' said | tr -d ,)
	echo "trace_${mpi}_call,$((traced_call - call)),ns"
	echo "trace_${mpi}_test,$((traced_test - test)),ns"
	echo "trace_${mpi}_record,$(($(stat -c %s job.tbt) / records)),B"
	measured=1
done
[[ $measured ]] || {
	echo "skipped: no compiler, and neither Open MPI nor MPICH"
	exit 77
}
