# What a view of the store takes grows with its rows, not with their square: on 4 times the nodes, each takes less than 12
# times the steps of SQLite's machine.
set -eu
command -v sqlite3 >/dev/null || {
	echo "skipped: no sqlite3"
	exit 77
}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
for nodes in 64 256; do
	"$TAILBACK" synth uniform --nodes "$nodes" --message 4K --messages 4 -o "$scratch/job.goal"
	"$TAILBACK" replay -q "$scratch/job.goal" -n qsnet --nodes "$nodes" --no-bounds -o "$scratch/$nodes.db"
done
steps() {
	printf '.stats vmstep\nSELECT * FROM %s;\n' "$2" | sqlite3 -readonly "$scratch/$1.db" | sed -n 's/^VM-steps: //p'
}
n=0
for view in $(sqlite3 "$scratch/64.db" "SELECT name FROM sqlite_master WHERE type = 'view'"); do
	n=$((n + 1))
	few=$(steps 64 "$view") many=$(steps 256 "$view")
	[[ $many -lt $((12 * few)) ]] || {
		echo "$view: $few steps on 64 nodes, $many on 256"
		exit 1
	}
done
echo "$n views"
[[ $n -ge 25 ]]
