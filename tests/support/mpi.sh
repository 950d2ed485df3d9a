# For scripts that start MPI programs: finds those that are there, and sets what mpirun needs where a
# test may be root, and several tests run at the same time.

# find_mpis: sets mpis, those of openmpi and mpich that are there with their compiler and our tracer;
# without any the script is skipped.
find_mpis()
{
	local mpi
	mpis=()
	for mpi in openmpi mpich; do
		[[ -e $(dirname "$TAILBACK")/tailback-trace-$mpi.so ]] && command -v "mpicc.$mpi" >/dev/null &&
			command -v "mpirun.$mpi" >/dev/null && mpis+=("$mpi")
	done
	((${#mpis[@]})) && return
	echo "skipped: neither Open MPI nor MPICH is there with its compiler (Debian: libopenmpi-dev, libmpich-dev)"
	exit 77
}

# use_mpi FOLDER: mpirun keeps its session there. In /tmp one that ends removes the folder in which
# another one is just making its own. Nor do all bind their ranks to the same first cores.
use_mpi()
{
	export TMPDIR=$1 OMPI_MCA_hwloc_base_binding_policy=none
	export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
}
