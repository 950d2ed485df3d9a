# A trace has exactly the sends, bytes, receives and collective calls of an independent count
# (tests/e2e/tracer/count.c), over programs drawn at random. The count is of the same run: it lies between
# the tracer and MPI.
set -Eeuo pipefail
mpis=()
for mpi in openmpi mpich; do
	[[ -e $(dirname "$TAILBACK")/tailback-trace-$mpi.so ]] && command -v "mpicc.$mpi" >/dev/null &&
		command -v "mpirun.$mpi" >/dev/null && mpis+=("$mpi")
done
((${#mpis[@]})) || {
	echo "skipped: neither Open MPI nor MPICH is there with its compiler (Debian: libopenmpi-dev, libmpich-dev)"
	exit 77
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'echo "line $LINENO: $BASH_COMMAND ($mpi)"; cat said' ERR
cd "$work"
: >said
. "$TB_SOURCE/tests/support/mpi.sh"
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
