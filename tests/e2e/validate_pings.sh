# The pings come out the same for any number of workers, in every format; a network
# that cannot show them makes the command fail.
set -eu
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
pings() {
	"$TAILBACK" validate --only 'ping.*' "$@" || [[ $? == 1 ]] # a row fails
}
pings --jobs 1 >"$scratch/one"
cat "$scratch/one"
pings --jobs 4 >"$scratch/four"
cmp "$scratch/one" "$scratch/four"
# The sums are those of the rows.
sums() { # MODEL ROLE
	awk -v role="$2" '/^ping/ && match($0, / (fitted|derived|predicted)  *(holds|near|tie|fails)/) {
		split(substr($0, RSTART, RLENGTH), word)
		if (role == "all" || word[1] == role) { sum[word[2]]++; n++ }
	} END { printf "%s %s %d %d %d %d %d\n", "'"$1"'", role, n, sum["holds"], sum["near"], sum["tie"], sum["fails"] }' "$scratch/one"
}
for of in 'qsnet fitted' 'qsnet derived' 'qsnet predicted' 'all all'; do
	sums $of | tee "$scratch/sum"
	tr -s ' ' <"$scratch/one" | grep -qx "$(cat "$scratch/sum")"
done
grep -q 'Network qsnet, 3 seeds, mean' "$scratch/one"

pings -f csv -o "$scratch/pings.csv"
awk '!/^sum/ { n++ } END { exit n != rows }' rows=$(($(grep -c '^ping' "$scratch/one") + 1)) "$scratch/pings.csv"
grep -q '^ping.uni.bw,qsnet,000,.*,near,near$' "$scratch/pings.csv"
grep -q '^sum.qsnet.derived.near,qsnet,,,,,,,rows,,derived,,,3,,,,$' "$scratch/pings.csv"
pings -f json >"$scratch/json"
tr -d ' \n' <"$scratch/json" | grep -q '{"model":"qsnet","role":"derived","holds":0,"near":3,"tie":0,"fails":0}'
pings -f markdown | grep -q '^| qsnet | derived | 3 | 0 | 3 | 0 | 0 |$'
pings -f markdown | grep -q '^| `ping.bi.bw` | = 280 MB/s |'

# Rows on another machine or by another library say so, and run on it whatever -n has.
"$TAILBACK" validate --only 'ping.*.main*' -n qsnet,bus=none -f csv -o "$scratch/main.csv" --seeds 1
awk -F, '/^ping/ { printf "%s %.0f\n", $1, $(NF - 4) }' "$scratch/main.csv" >"$scratch/main"
printf 'ping.%s\n' 'uni.main33 200' 'uni.main66r 320' 'uni.main66w 320' 'bi.main33 80' 'bi.main-elan 280' 'bi.main66 160' \
	'bi.main66.tports 160' 'bi.main66.mpi 160' |
	cmp - "$scratch/main"
grep -q '^ping.bi.main33,.*with buffers=main,pci=200MB/s,pci_turn=600ns' "$scratch/main.csv"

# A network without a row's library has the other rows.
sed '/^\[host/,$d' "$TB_SOURCE/schemas/qsnet.ini" >"$scratch/bare.ini"
"$TAILBACK" validate --only 'ping.uni.lat0*' -n "$scratch/bare.ini" --seeds 1 >"$scratch/bare"
grep -q '^ping.uni.lat0.mpi .* outside the model: .*bare.ini: host = mpi: the network has no such library' \
	"$scratch/bare"
grep -q '^all  *all  *2  *0  *2  *0  *0$' "$scratch/bare"
grep -q '^3 rows are outside the model\.' "$scratch/bare"

# No experiment runs for a row outside the model.
"$TAILBACK" validate --only pvfs.btio.tcp >"$scratch/outside"
grep -q '^1 row is outside the model\.' "$scratch/outside"
"$TAILBACK" validate --only pvfs.btio.tcp -f json | grep -q '"verdict": "outside"'

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
grep -q '^all  *derived  *3  *0  *0  *0  *3$' "$scratch/out"
expect 1 validate --only 'ping.uni.*' -n ib-hdr
grep -q 'published figures are of QsNet' "$scratch/out"
expect 2 validate --only 'nothing.*'
expect 2 validate --seeds 0
expect 2 validate -f yaml
expect 2 validate -n qsnet,vcs=none
expect 2 validate a_file
expect 1 validate --only ping.uni.lat0 -o "$scratch/no/such/folder.csv"
