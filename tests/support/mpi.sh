# For scripts that start MPI programs: sets what mpirun needs where a test may be root, and several
# tests run at the same time.

# use_mpi FOLDER: mpirun keeps its session there. In /tmp one that ends removes the folder in which
# another one is just making its own. Nor do all bind their ranks to the same first cores.
use_mpi()
{
	export TMPDIR=$1 OMPI_MCA_hwloc_base_binding_policy=none
	export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
}
