# The pings come out as published, the same for any number of workers, in every format; a network
# that cannot show them makes the command fail.
set -eu
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
pings() {
	"$TAILBACK" validate --only 'ping.*' "$@"
}
pings --jobs 1 >"$scratch/one"
cat "$scratch/one"
pings --jobs 4 >"$scratch/four"
cmp "$scratch/one" "$scratch/four"
grep -q '^6 of 6 rows hold, 8 are outside the model' "$scratch/one"

pings -f csv -o "$scratch/pings.csv"
awk 'END { exit NR != 15 }' "$scratch/pings.csv"
grep -q '^ping.uni.bw,000,.*,holds$' "$scratch/pings.csv"
pings -f json | grep -q '"verdict": "outside"'
pings -f markdown | grep -q '^| `ping.bi.bw` | = 280 MB/s |'

expect() {
	local code=0
	"$TAILBACK" "${@:2}" >"$scratch/out" 2>&1 || code=$?
	[[ $code == "$1" ]] || {
		cat "$scratch/out"
		echo "expected exit code $1, not $code: ${*:2}"
		exit 1
	}
}
expect 1 validate --only 'ping.uni.*' -n qsnet,vcs=1
grep -q '^3 of 5 rows hold' "$scratch/out"
expect 2 validate --only 'nothing.*'
expect 2 validate --seeds 0
expect 2 validate -f yaml
expect 2 validate -n qsnet,vcs=none
expect 2 validate a_file
expect 1 validate --only ping.uni.lat0 -o "$scratch/no/such/folder.csv"
