# Rows of every model are replayed from what is beside the program; a recording that is not there, and
# a row that takes long, are left out by name, and no role hides a row that fails.
set -eu
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
"$TAILBACK" validate --only 'roce.form.*' >roce
grep -q '^roce.form.rate  *within 12.25 GB/s (x 1.01) .*derived  *holds$' roce
grep -q '^roce  *derived  *1  *1  *0  *0  *0$' roce

# What a job comes to: half of a round trip, a bandwidth, and a recording's time without its beginning.
figure() {
	"$TAILBACK" validate --only "$1" -f json | awk '/"simulated"/ { gsub(",", ""); print $2 }'
}
grep '^roce.oci-x9.pingpong.2x1.64M,' "$TB_SOURCE/schemas/measured.csv" | grep -q ',5492,us,'
figure roce.oci-x9.pingpong.2x1.64M | awk '{ exit !($1 > 5300 && $1 < 5700) }' # of 11 ms there and back
figure ib.form.rate | awk '{ exit !($1 > 24.6 && $1 < 24.9) }'
row=$(sed -n '/^ethernet.wave8.100.100,/s/.*"file wave8_100m.tbt \(.*\)"$/\1/p' "$TB_SOURCE/schemas/measured.csv")
"$TAILBACK" replay -q "$TB_SOURCE/tests/real/data/whatif2/wave8_100m.tbt" -n "${row#*: -n }" -o wave.db
"$TAILBACK" info wave.db --json |
	awk -v lead="${row%%:*}" '/"simulated_ps"/ { gsub(",", ""); printf "%.6f\n", $2 / 1e12 - lead; exit }' >own
figure ethernet.wave8.100.100 | awk '{ printf "%.6f\n", $1 }' | cmp - own

# Not there, and long.
"$TAILBACK" validate --only ethernet.wave8.100.100 --data "$scratch" >lacking
grep -q 'its recording is not here: wave8_100m.tbt; --data names its folder$' lacking
grep -q '^1 row is outside the model' lacking
"$TAILBACK" validate --only nccl.xj01.allreduce.10x8.32M >long 2>&1 && exit 1
grep -q "no row's id matches .* but those for --long" long
"$TAILBACK" validate --model lan >unknown 2>&1 && exit 1
grep -q 'ib' unknown

# Published rows that were known when something was chosen are no predictions.
"$TAILBACK" validate --only 'pvfs.tile.*' -f csv --seeds 1 >tiles || [[ $? == 1 ]] # a row fails
[[ $(grep -c '^pvfs.tile.*,chosen,' tiles) == 2 ]]
