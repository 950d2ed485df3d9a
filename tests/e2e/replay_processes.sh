# A replay by several processes of mpirun gives the same store as one process, bit for bit, but for
# run_environment; what they cannot do together is refused in a sentence, once.
set -euo pipefail
command -v mpirun >/dev/null && [[ $(mpirun --version) == *'Open MPI'* ]] || {
	echo "skipped: no mpirun of Open MPI (Debian: openmpi-bin)"
	exit 77
}
[[ -e $(dirname "$TAILBACK")/tailback-mpi.so ]] || {
	echo "skipped: built without Open MPI (Debian: libopenmpi-dev)"
	exit 77
}
command -v sqlite3 >/dev/null || {
	echo "skipped: no sqlite3"
	exit 77
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'echo "line $LINENO: $BASH_COMMAND"; cat said' ERR
cd "$work"
. "$TB_SOURCE/tests/support/stores.sh"
. "$TB_SOURCE/tests/support/mpi.sh"
use_mpi "$work"
export ASAN_OPTIONS=detect_leaks=0 # of MPI itself
run=(timeout -k 5 900 mpirun --oversubscribe)

# compare N OPTION...: N processes against one, in folders, as stores name their inputs.
compare()
{
	local n=$1
	shift
	rm -rf one many
	mkdir one many
	(cd one && "$TAILBACK" replay -q "$@" -o run.db)
	(cd many && "${run[@]}" -n "$n" "$TAILBACK" replay -q "$@" -o run.db) >said 2>&1
	expect_same_rows one/run.db many/run.db "$n processes, $*"
	[[ $(sqlite3 many/run.db 'SELECT count(*) > 0 FROM link_bin') == 1 ]]
}
"$TAILBACK" synth uniform --nodes 256 --message 20K --messages 3 -o job.goal
"$TAILBACK" synth alltoall --nodes 64 --size 6000 -o other.goal
jobs=(../job.goal --job '../other.goal,placement=random,start=2us,sl=1' --per-node 2)
compare 2 "${jobs[@]}" -n ib-hdr,arity=16,levels=2
[[ $(sqlite3 many/run.db 'SELECT count(*) FROM blame_wait') -gt 1000 ]]
compare 4 "${jobs[@]}" -n roce-100,arity=16,levels=2,host=mpi,vls=2
compare 3 "${jobs[@]}" -n ib-hdr,arity=16,levels=2,rails=2,ascent=adaptive --bin 3us --threads 2
compare 2 "$TB_SOURCE/tests/data/ring8" -n ib-ndr
compare 2 ../job.goal -n ib-hdr,arity=16,levels=2 --no-blame
# A capture.
compare 2 "$TB_SOURCE/tests/data/alltoall16.pcap.zst" -n ib-hdr --time-scale 0.001

# A signal to any rank ends a run early for all, and rank 0 keeps what there is. By itself it would take minutes.
"$TAILBACK" synth uniform --nodes 256 --message 4M --messages 300 -o long.goal
for struck in "0 INT" "1 TERM" "2 INT"; do
	read -r rank signal <<<"$struck"
	rm -f stopped.db ranks.*
	"${run[@]}" -n 3 bash -c 'echo $$ >"ranks.$OMPI_COMM_WORLD_RANK"; exec "$@"' rank "$TAILBACK" \
		replay -q --no-bounds long.goal -n ib-hdr,arity=16,levels=2 -o stopped.db 2>said &
	pid=$!
	until (($(store_count stopped.db link_bin) >= 1)); do sleep 0.02; done
	kill -"$signal" "$(cat "ranks.$rank")"
	for _ in $(seq 600); do kill -0 $pid 2>/dev/null && sleep 0.1; done
	kill $pid 2>/dev/null && echo "SIG$signal to rank $rank does not stop it"
	code=0
	wait $pid || code=$?
	[[ $code == 1 ]]
	grep -q '^tailback: stopped early: what was simulated so far is in stopped.db' said
	[[ $(sqlite3 stopped.db 'PRAGMA integrity_check; SELECT complete FROM run') == $'ok\n0' ]]
	(($(store_count stopped.db flow) >= 1))
done

# What is wrong is said once, by rank 0. mpirun may end before it has passed on what ranks say, so they
# say it into files of their own.
told=(bash -c 'exec "$@" 2>"said.$OMPI_COMM_WORLD_RANK"' rank "$TAILBACK" replay -q)
refused()
{
	local wanted=$1 sentence=$2 code=0
	shift 2
	rm -f said.*
	"${run[@]}" "$@" 2>by_mpirun || code=$?
	cat said.* >said
	[[ $code == "$wanted" ]] && grep -q -- "$sentence" said && [[ $(grep -c '^tailback' said) == 1 ]] || {
		echo "exit $code"
		cat said
		exit 1
	}
	[[ ! -e none.db ]]
}
small=(-n 'ib-hdr,arity=16,levels=2' -o none.db)
refused 2 '2 processes cannot simulate this replay together: only networks with credits, such as ib-hdr, can be; start one, without mpirun' \
	-n 2 "${told[@]}" job.goal --nodes 256 -o none.db
refused 2 'only networks with credits' \
	-n 2 "${told[@]}" job.goal -n ethernet,arity=16,levels=2 -o none.db
refused 2 'fewer switches with nodes' -n 3 "${told[@]}" other.goal -n ib-hdr,arity=64,levels=1 -o none.db
refused 2 'faults concern all' -n 2 "${told[@]}" job.goal --fault link=0.1:4@1ms "${small[@]}"
refused 1 'missing.goal: cannot be opened' -n 2 "${told[@]}" missing.goal "${small[@]}"
refused 2 'rank 1 on .* has another trace, network or option than rank 0' \
	-n 1 "${told[@]}" job.goal "${small[@]}" : -n 1 "${told[@]}" job.goal --seed 2 "${small[@]}"
refused 1 'missing.goal: cannot be opened.*(rank 1 on ' \
	-n 1 "${told[@]}" job.goal "${small[@]}" : -n 1 "${told[@]}" missing.goal "${small[@]}"
