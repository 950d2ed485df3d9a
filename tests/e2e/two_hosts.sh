# What collective calls of 16 ranks on two hosts put on the wire, by Open MPI and MPICH, is what
# tests/data/collectives/hosts-*.txt has, to which a unit test holds the expansion of calls: within
# 5 % by host and call, or 200 B. `two_hosts.sh --all LIBRARY` prints the whole table anew.
set -eu
skip() {
	echo "skipped: $1"
	exit 77
}
for mpi in openmpi mpich; do
	command -v "mpicc.$mpi" >/dev/null && command -v "mpirun.$mpi" >/dev/null ||
		skip "no mpicc.$mpi (Debian: openmpi-bin and libopenmpi-dev, mpich and libmpich-dev)"
done
[[ $(mpirun.openmpi --version) == *'4.1'* && $(mpirun.mpich --version) == *' 4.0'* ]] ||
	skip "the tables are of Open MPI 4.1 and MPICH 4.0"
hosts=("tb${$}a" "tb${$}b")
ip netns add "${hosts[0]}" 2>/dev/null || skip "no network namespaces here (ip netns add)"
work=$(mktemp -d)
clean() {
	rm -rf "$work"
	for name in "${hosts[@]}"; do
		ip netns del "$name" 2>/dev/null || true
	done
}
trap clean EXIT
cd "$work"
. "$TB_SOURCE/tests/support/mpi.sh"
use_mpi "$work"
ip netns add "${hosts[1]}"
ip link add eth0 netns "${hosts[0]}" type veth peer name eth0 netns "${hosts[1]}" 2>/dev/null ||
	skip "no veth here"
for i in 0 1; do
	ip netns exec "${hosts[i]}" sysctl -qw net.ipv6.conf.all.disable_ipv6=1
	ip -n "${hosts[i]}" addr add "10.93.0.$((i + 1))/24" dev eth0
	ip -n "${hosts[i]}" link set eth0 up
	ip -n "${hosts[i]}" link set lo up
done
rsh=$TB_SOURCE/tests/e2e/hosts/rsh.sh
declare -A run=(
	[openmpi]="mpirun.openmpi --oversubscribe -host ${hosts[0]}:8,${hosts[1]}:8 -np 16 --mca plm_rsh_agent $rsh
		--mca oob_tcp_if_include eth0 --mca pml ob1 --mca btl tcp,vader,self --mca btl_tcp_if_include eth0
		--mca mpi_yield_when_idle 1"
	[mpich]="env UCX_TLS=tcp,self UCX_NET_DEVICES=eth0 mpirun.mpich -launcher rsh -launcher-exec $rsh -iface eth0
		-hosts ${hosts[0]}:8,${hosts[1]}:8 -np 16"
)
declare -A table=([openmpi]=hosts-openmpi-4.1.4.txt [mpich]=hosts-mpich-4.0.2.txt)

# measure LIBRARY CALL...: lines as in the tables, whatever becomes of the processes afterwards.
measure() {
	local library=$1 try
	shift
	for try in 1 2 3; do
		# shellcheck disable=SC2086 # words of a command
		"$rsh" "${hosts[0]}" timeout -k 5 "${limit:-120}" ${run[$library]} "$work/wire.$library" "$@" >said 2>&1 || true
		if grep -qx end said; then
			grep -E '^[a-z-]+( [0-9]+){5}$' said >measured
			return
		fi
		echo "try $try of $library failed" >&2
	done
	cat said
	return 1
}
for mpi in openmpi mpich; do
	"mpicc.$mpi" -O1 -w -o "wire.$mpi" "$TB_SOURCE/tests/e2e/hosts/wire.c"
done
if [[ ${1:-} == --all ]]; then
	# shellcheck disable=SC2046 # a word a call
	limit=900 measure "$2" $(awk '{ print $1 ":" $3 ":" $4 }' "$TB_SOURCE/tests/data/collectives/${table[$2]}")
	cat measured
	exit
fi
for mpi in openmpi mpich; do
	measure "$mpi" barrier:0:0 broadcast:8192:5 broadcast:131072:0 reduce:16384:11 allreduce:131072:0 \
		allgather:16384:0 alltoall:1024:0
	awk -v mpi="$mpi" '
		function off(is, was) { d = is > was ? is - was : was - is; return d > 200 && d * 20 > was }
		NR == FNR { a[$1, $3, $4] = $5; b[$1, $3, $4] = $6; next }
		!(($1, $3, $4) in a) { print "no row for " $0; bad = 1; next }
		off($5, a[$1, $3, $4]) || off($6, b[$1, $3, $4]) {
			print mpi ": " $0 ", in the table " a[$1, $3, $4] " and " b[$1, $3, $4]
			bad = 1
		}
		{ n++ }
		END { exit bad || n != 7 }' "$TB_SOURCE/tests/data/collectives/${table[$mpi]}" measured
done
