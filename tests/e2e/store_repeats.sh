# The same input, configuration and seed give the same store, but for run_environment.
set -eu
. "$TB_SOURCE/tests/support/stores.sh"
command -v sqlite3 >/dev/null || {
	echo "skipped: no sqlite3"
	exit 77
}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cp "$TB_SOURCE/tests/data/bit_reversal_64.goal" "$TB_SOURCE/tests/data/alltoall16.pcap.zst" "$scratch"
for i in 1 2; do
	mkdir "$scratch/$i"
	cd "$scratch/$i"
	"$TAILBACK" replay ../bit_reversal_64.goal --seed 7 -o run.db 2>/dev/null
	"$TAILBACK" replay ../alltoall16.pcap.zst --time-scale 0.2 -o run.db 2>/dev/null
	store_rows run.db >dump.sql
done
[[ $(sqlite3 run.db 'SELECT count(*) FROM run_environment') == 2 ]]
[[ $(wc -l <dump.sql) -gt 1000 ]]
cmp "$scratch/1/dump.sql" "$scratch/2/dump.sql"
