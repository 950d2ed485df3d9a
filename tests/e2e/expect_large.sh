# A table of 30 sizes on 1,024 GPUs is judged within 20 s; sizes that are not replayed, and rings that are replayed on
# fewer hosts, have the times of their replays.
set -eu
command -v python3 >/dev/null || {
	echo "skipped: no python3"
	exit 77
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
table() { python3 "$TB_SOURCE/tests/support/nccl_table.py" "$@"; }
# times FILE: the expected times in ps, of figures that are out of place.
times() { python3 -c "import json, sys
print(*(r['expected_ps'] for r in json.load(open(sys.argv[1]))['rows'] if not r['in_place']), sep='\n')" "$1"; }
# alike FILE FILE: all times within 3 %.
alike() { paste <(times "$1") <(times "$2") | awk '{ if ($1 > 1.03 * $2 || $2 > 1.03 * $1) bad = 1 } END { exit bad || NR == 0 }'; }

sizes=
for ((i = 3; i < 33; i++)); do sizes+=" $((1 << i)) $((100 + (1 << i) / 100000))"; done
# shellcheck disable=SC2086
table all_reduce 128 8 $sizes >large.log
# Of the processor, on two cores: others may use them.
TIMEFORMAT='%U %S'
{ time "$TAILBACK" expect large.log -n ib-ndr,rails=8 --no-why -q -f json >large.json 2>err; } 2>took
awk '{ exit $1 + $2 > 40 }' took || {
	echo "30 sizes on 1,024 GPUs take $(cat took) s of the processor, more than 40"
	exit 1
}
times large.json | awk 'END { exit NR != 30 }'

table all_reduce 32 8 $((1 << 26)) 1000 $((1 << 27)) 2000 $((1 << 28)) 4000 $((1 << 29)) 8000 >medium.log
"$TAILBACK" expect medium.log -n ib-ndr,rails=8 --no-why -q -f json >some.json
"$TAILBACK" expect medium.log -n ib-ndr,rails=8 --no-why -q -f json --every-size >all.json
alike some.json all.json || {
	echo "sizes between replays are not as replayed"
	exit 1
}
table all_gather 64 8 $((1 << 26)) 1000 >ring.log
"$TAILBACK" expect ring.log -n ib-ndr,rails=8 --no-why -q -f json >fewer.json
"$TAILBACK" expect ring.log -n ib-ndr,rails=8 --no-why -q -f json --every-size >all.json
grep -q '"way": "fewer hosts"' fewer.json
alike fewer.json all.json || {
	echo "a ring on fewer hosts does not take as long as that of all"
	exit 1
}

# Trees of 4,096 GPUs: 32 MiB took 753.6 us by --every-size, 1 GiB of 1,024 GPUs 6.671 ms; 2 GiB through 8 adapters of
# 49.68 GB/s are 5.40 ms. Larger sizes take longer.
"$TAILBACK" expect allreduce -n ib-ndr,rails=8 --ranks 4096 --per-node 8 --size 32M,256M,1G --no-why -f json \
	>trees.json 2>err
grep -q ' replays after ' err || {
	echo "replays of seconds show no progress"
	exit 1
}
times trees.json >trees
awk '$1 < before { exit 1 } { before = $1 } NR == 1 && ($1 < 731e6 || $1 > 777e6) { exit 1 }
	NR == 3 && ($1 < 5.5e9 || $1 > 8e9) { exit 1 } END { if (NR != 3) exit 1 }' trees || {
	echo "trees of 4,096 GPUs take $(tr '\n' ' ' <trees)"
	exit 1
}

# What would take too many messages with a change is tried at smaller sizes.
table all_reduce 4 8 8589934592 90022 >half.log
"$TAILBACK" expect half.log -n ib-ndr,rails=8 -q >half.txt
for change in 'half of the adapters' 'links at half their rate' 'PCIe of half the width'; do
	grep -q "with $change.* it would be" half.txt || {
		echo "8 GiB at half the speed is not explained with $change"
		exit 1
	}
done
