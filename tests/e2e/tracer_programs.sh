# Traces of programs that Debian packages have exactly what an independent count has
# (tests/e2e/tracer/count.c): LAMMPS, Quantum ESPRESSO, HPCC, NetPIPE, mpi4py.
set -Eeuo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'echo "line $LINENO: $BASH_COMMAND"; cat said' ERR
cd "$work"
: >said
. "$TB_SOURCE/tests/support/mpi.sh"
. "$TB_SOURCE/tests/support/mpi_counts.sh"
use_mpi "$work"
failed=0 compared=0

# compare MPI RANKS PROGRAM...: runs the program where it and the tracer of its MPI are there.
compare()
{
	local mpi=$1 n=$2 options=()
	shift 2
	[[ -e $(dirname "$TAILBACK")/tailback-trace-$mpi.so ]] && command -v "mpirun.$mpi" >/dev/null &&
		command -v "$1" >/dev/null || {
		echo "skipped: $1 is not installed, or not the tracer of $mpi"
		return 0
	}
	[[ $mpi == openmpi ]] && options=(--oversubscribe)
	build_count "$mpi"
	count_and_trace "$mpi" "mpirun.$mpi" "${options[@]}" -n "$n" "$@" >out 2>said
	compared=$((compared + 1))
	echo "$mpi, $1: sends, bytes, receives, collective calls are $counted by count, $traced in the trace"
	[[ $counted == "$traced" && $counted != '0 0 0 0' ]] || failed=1
}

cat >in.melt <<-END
	units lj
	atom_style atomic
	lattice fcc 0.8442
	region box block 0 8 0 8 0 8
	create_box 1 box
	create_atoms 1 box
	mass 1 1.0
	velocity all create 3.0 87287
	pair_style lj/cut 2.5
	pair_coeff 1 1 1.0 1.0 2.5
	fix 1 all nve
	run 100
END
compare openmpi 4 lmp -in in.melt
compare openmpi 2 NPopenmpi -n 20 -u 65536 -o out.np
compare mpich 2 NPmpich2 -n 20 -u 65536 -o out.np
/usr/bin/python3 -c 'import mpi4py' 2>/dev/null && compare openmpi 3 /usr/bin/python3 -c 'from mpi4py import MPI
c = MPI.COMM_WORLD
for i in range(50):
    c.allreduce(c.rank); c.bcast({"a": list(range(i))}, root=i % 3); c.gather([c.rank] * i)
    c.sendrecv(b"x" * i, dest=(c.rank + 1) % 3); c.alltoall([i] * 3)'
hpcc=/usr/share/doc/hpcc/examples/_hpccinf.txt
[[ -e $hpcc ]] && sed '6s/.*/200/; 11s/.*/2/; 12s/.*/2/' $hpcc >hpccinf.txt && compare openmpi 4 hpcc
pseudo=/usr/share/espresso/pseudo
silicon=$(compgen -G "$pseudo/Si.*" | head -1 || true)
cat >in.si <<-END
	&control
	 calculation='scf', prefix='si', pseudo_dir='$pseudo', outdir='./tmp'
	/
	&system
	 ibrav=2, celldm(1)=10.2, nat=2, ntyp=1, ecutwfc=12.0
	/
	&electrons
	/
	ATOMIC_SPECIES
	 Si 28.086 ${silicon##*/}
	ATOMIC_POSITIONS
	 Si 0.00 0.00 0.00
	 Si 0.25 0.25 0.25
	K_POINTS automatic
	 2 2 2 0 0 0
END
[[ ! $silicon ]] || compare openmpi 2 pw.x -in in.si
((compared)) || {
	echo "skipped: none of the programs is installed (Debian: lammps, quantum-espresso, hpcc, netpipe-openmpi, netpipe-mpich2, python3-mpi4py)"
	exit 77
}
exit "$failed"
