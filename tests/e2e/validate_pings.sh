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
grep -q '^fitted  *4  *0  *4  *0  *0$' "$scratch/one"
grep -q '^derived  *2  *0  *2  *0  *0$' "$scratch/one"
grep -q '^all  *6  *0  *6  *0  *0$' "$scratch/one"
grep -q '^1 verdict has another one within the interval' "$scratch/one"
grep -q ' 8 rows are outside the model\.' "$scratch/one"
grep -q 'Network qsnet, 3 seeds, mean' "$scratch/one"

pings -f csv -o "$scratch/pings.csv"
awk '!/^sum/ { n++ } END { exit n != 15 }' "$scratch/pings.csv"
grep -q '^ping.uni.bw,000,.*,near,near$' "$scratch/pings.csv"
grep -q '^sum.derived.near,,,,,,,rows,,derived,,,2,,,,$' "$scratch/pings.csv"
pings -f json >"$scratch/json"
grep -q '"verdict": "outside"' "$scratch/json"
tr -d ' \n' <"$scratch/json" | grep -q '"fitted":{"holds":0,"near":4,"tie":0,"fails":0}'
pings -f markdown | grep -q '^| all | 6 | 0 | 6 | 0 | 0 |$'
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
grep -q '^all  *5  *0  *3  *0  *2$' "$scratch/out"
expect 2 validate --only 'nothing.*'
expect 2 validate --seeds 0
expect 2 validate -f yaml
expect 2 validate -n qsnet,vcs=none
expect 2 validate a_file
expect 1 validate --only ping.uni.lat0 -o "$scratch/no/such/folder.csv"
