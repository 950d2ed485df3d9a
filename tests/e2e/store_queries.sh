# Every query of docs/store.md runs against a fresh store and answers something.
set -eu
command -v sqlite3 >/dev/null || {
	echo "skipped: no sqlite3"
	exit 77
}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
"$TAILBACK" sweep uniform --set load=0.5 --set nodes=4 --set warm=1us --set window=1us -q -o "$scratch/run.db"
"$TAILBACK" replay -q "$TB_SOURCE/tests/data/ring8" -n ib-ndr -o "$scratch/run.db"
"$TAILBACK" replay "$TB_SOURCE/tests/data/alltoall16.pcap.zst" --time-scale 0.1 -o "$scratch/run.db" \
	>"$scratch/log" 2>&1 || {
	cat "$scratch/log"
	exit 1
}
awk -v folder="$scratch" '/^```sql$/ { n++; inside = 1; next } /^```$/ { inside = 0 }
	inside { print > (folder "/" n ".sql") }' "$TB_SOURCE/docs/store.md"
n=0
for query in "$scratch"/*.sql; do
	n=$((n + 1))
	answer=$(sqlite3 -bail -readonly "$scratch/run.db" <"$query" 2>&1) || {
		cat "$query"
		echo "$answer"
		exit 1
	}
	if [[ -z $answer ]]; then
		cat "$query"
		echo "answers nothing"
		exit 1
	fi
done
echo "$n queries"
[[ $n -ge 8 ]]
