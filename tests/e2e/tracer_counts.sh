# A trace has exactly the sends, bytes, receives and collective calls of an independent count
# (tests/e2e/tracer/count.c), over programs drawn at random. The count is of the same run: it lies between
# the tracer and MPI.
set -Eeuo pipefail
. "$TB_SOURCE/tests/support/mpi.sh"
find_mpis
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'echo "line $LINENO: $BASH_COMMAND ($mpi)"; cat said' ERR
cd "$work"
: >said
. "$TB_SOURCE/tests/support/mpi_counts.sh"
use_mpi "$work"
failed=0
for mpi in "${mpis[@]}"; do
	options=()
	[[ $mpi == openmpi ]] && options=(--oversubscribe)
	build_count "$mpi"
	"mpicc.$mpi" -w -o mixture "$TB_SOURCE/tests/e2e/tracer/mixture.c"
	for seed in 1 2 3; do
		count_and_trace "$mpi" "mpirun.$mpi" "${options[@]}" -n $((seed + 1)) ./mixture $seed >out 2>said
		[[ $counted == "$traced" && $counted != '0 0 0 0' ]] || {
			echo "$mpi, seed $seed: sends, bytes, receives, collective calls are $counted by count, $traced in the trace"
			failed=1
		}
	done
done
exit "$failed"
