# A replay on several threads gives the same store, bit for bit, but for run_environment.
set -eu
. "$TB_SOURCE/tests/support/stores.sh"
command -v sqlite3 >/dev/null || {
	echo "skipped: no sqlite3"
	exit 77
}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
# 1000 nodes and more are cut into parts, circuits into as many as there are threads, but by one thread: more
# waits than the lists of the heaviest hold.
"$TAILBACK" synth uniform --nodes 1024 --message 20K --messages 2 -o job.goal
"$TAILBACK" synth alltoall --nodes 128 --size 6000 -o other.goal
for n in 1 3 8; do
	mkdir "$n"
	(
		cd "$n"
		for network in ib-hdr,arity=32,levels=2 roce-100,arity=32,levels=2,host=mpi \
			ethernet,arity=32,levels=2,queue=30000 qsnet,levels=5 \
			qsnet2,arity=32,levels=2,ascent=ecmp,host=mpi; do
			"$TAILBACK" replay -q ../job.goal --job ../other.goal,placement=random,start=2us \
				--per-node 2 -n "$network" --threads "$n" -o run.db
		done
		store_rows run.db >dump.sql
	)
	cmp 1/dump.sql "$n/dump.sql"
done
[[ $(wc -l <1/dump.sql) -gt 10000 ]]
[[ $(sqlite3 1/run.db 'SELECT sum(came_by_ps) > 0 FROM link_bin') == 1 ]]

# The default is no other.
mkdir default
"$TAILBACK" replay -q job.goal --job other.goal,placement=random,start=2us --per-node 2 \
	-n ib-hdr,arity=32,levels=2 -o default/run.db
for table in link_bin flow blame_wait root_total; do
	for run in 1 default; do
		sqlite3 "$run/run.db" "SELECT * FROM $table WHERE run = 1" >"$run/$table.txt"
	done
	cmp "1/$table.txt" "default/$table.txt"
done
