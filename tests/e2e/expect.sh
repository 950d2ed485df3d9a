# What a benchmark should have measured: a table of the expected times has a ratio of 1; one of a network with half of
# the adapters is explained by these; a slow host is named; failed checks are not judged; the gate; bad input.
set -eu
command -v python3 >/dev/null || {
	echo "skipped: no python3"
	exit 77
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
fail() {
	echo "$*"
	exit 1
}
table() { python3 "$TB_SOURCE/tests/support/nccl_table.py" "$@"; }
expect() { "$TAILBACK" expect -q "$@"; }
# holds FILE CONDITION: of the JSON, as `j`.
holds() { python3 -c "import json, sys
j = json.load(open(sys.argv[1]))
r = j['rows']
sys.exit(not ($2))" "$1" || fail "$1: not $2"; }

sizes="1024 50 65536 60 4194304 100 134217728 2000"
table all_reduce 2 4 $sizes >any.log
expect any.log -n ib-hdr,rails=4 --no-why -f json >any.json
table all_reduce 2 4 --from any.json >same.log
expect same.log -n ib-hdr,rails=4 -f json >same.json
holds same.json "len(r) == 8 and all(abs(x['ratio'] - 1) < 0.01 for x in r)"
holds same.json "all(x['verdict'] in ('as expected', 'without a measured range') for x in r)"
holds same.json "any(x['kind'] == 'bound' for x in j['reasons'])"
holds same.json "not any(x['kind'] == 'explains' for x in j['reasons'])"

# Measured with half of the adapters.
table alltoall 2 4 268435456 9000 >any.log
expect any.log -n ib-hdr,rails=2 --no-why -f json >half.json
table alltoall 2 4 --from half.json >half.log
expect half.log -n ib-hdr,rails=4 -f json >half.json
holds half.json "any('half of the adapters' in x['text'] and abs(x['ratio'] - 1) < 0.02 for x in j['reasons'] if x['kind'] == 'explains')"

# Of two files the tables, the curves and a sentence name them.
table all_reduce 2 4 1048576 100 4194304 200 16777216 600 67108864 2000 >mon.log
table all_reduce 2 4 1048576 100 4194304 400 16777216 1200 67108864 4000 >tue.log
expect mon.log tue.log -n ib-hdr,rails=4 --no-why >two.txt
for words in '^mon.log: allreduce, 8 ranks' '^tue.log: allreduce, 8 ranks' \
	'tue.log is slower than mon.log from 4 MiB on: allreduce, 8 ranks, reaches 0.50 of its speed'; do
	grep -q "$words" two.txt || fail "two files: no '$words'"
done
# Each reason is of one file, and who falls behind is found within one.
sed '1,/^Why/d; /^$/,$d; /^    /d' two.txt | grep -v '^  \(mon\|tue\).log' && fail "a reason without its file"
for slow in a b; do for pair in a,b a,c a,d b,c b,d c,d; do
	table all_reduce 2 1 --hosts $pair --slow $slow=2 67108864 3000
done >slow_$slow.log; done
expect slow_a.log slow_b.log -n ib-hdr --no-why -f json >both.json
holds both.json "[x['of'] for x in j['reasons'] if x['kind'] == 'behind'][1:] == ['slow_a.log: host a', 'slow_b.log: host b']"
table all_reduce 2 4 1048576 150 >few.log
expect mon.log few.log -n ib-hdr,rails=4 --no-why | grep -q '^ *allreduce  *few.log ' || fail "rows without files"
expect mon.log tue.log -n ib-hdr,rails=4 --no-why -o two.svg
grep -q 'mon.log: measured, ' two.svg && grep -q 'tue.log: expected, ' two.svg || fail "curves without files"

# All-to-all of too many messages is not known in words, with its bound: 8 x 1 MiB x 511/512 through 8 adapters.
"$TAILBACK" expect alltoall -n ib-ndr,rails=8 --ranks 4096 --per-node 8 --size 1M --no-why -q >unknown.txt
grep -q ' not known ' unknown.txt && grep -q 'not known: .* at least 21.06 us' unknown.txt || fail "$(cat unknown.txt)"

# An operation as nccl-tests call it.
"$TAILBACK" expect reduce_scatter -n ib-ndr,rails=8 --ranks 16 --per-node 8 --size 1M --no-why -q | sed 1d >named.txt
"$TAILBACK" expect reduce-scatter -n ib-ndr,rails=8 --ranks 16 --per-node 8 --size 1M --no-why -q | sed 1d | diff - named.txt || fail "reduce_scatter is another operation"

# Ring where the library takes another algorithm.
table all_reduce 2 4 134217728 2000 >any.log
expect any.log -n ib-hdr,rails=4 --collective allreduce=nccl-ring --no-why -f json >ring.json
holds ring.json "all(x['algorithm'] == 'nccl-ring' for x in r)"

# Pairs of four hosts, of which one is slow; as tables of two, and as pairs of one.
for pair in a,b a,c a,d b,c b,d c,d; do
	table all_reduce 2 1 --hosts $pair --slow c=2 67108864 3000
done >pairs.log
expect pairs.log -n ib-hdr --no-why -f json >pairs.json
holds pairs.json "[x['of'] for x in j['reasons'] if x['kind'] == 'behind'] == ['host c']"

# Failed checks.
table all_reduce 2 4 --wrong 4194304 $sizes >wrong.log
expect wrong.log -n ib-hdr,rails=4 --no-why -f json >wrong.json
holds wrong.json "[x['verdict'] for x in r if x['bytes'] == 4194304] == ['wrong values'] * 2"

# The gate judges by the range of the class; a class without one is not judged.
table all_reduce 2 4 134217728 200000 >slow.log
code=0
expect slow.log -n ib-hdr,rails=4 --no-why --gate >slow.txt 2>slow.err || code=$?
if grep -q '^allreduce,large,nccl,several,' "$TB_SOURCE/schemas/expected.csv"; then
	[[ $code == 3 ]] && grep -q 'slower than expected' slow.err || fail "--gate: $code"
	expect same.log -n ib-hdr,rails=4 --no-why --gate >/dev/null || fail "--gate of what is as expected"
else
	[[ $code == 1 ]] && grep -q 'cannot judge' slow.err || fail "--gate without ranges: $code"
fi

# Pictures and pages, and the same figures whatever the number of threads.
expect same.log -n ib-hdr,rails=4 --no-why -o t.svg
grep -q '<svg' t.svg || fail "no picture"
expect same.log -n ib-hdr,rails=4 --no-why -o t.html
grep -q '<svg' t.html && grep -q '</html>' t.html || fail "no page"
expect same.log -n ib-hdr,rails=4 -f json --jobs 1 | cmp - same.json || fail "--jobs changes the figures"

# bad SENTENCE ARGUMENT...: the command fails with one sentence that has these words.
bad() {
	local words=$1 code=0
	shift
	"$TAILBACK" expect -q "$@" >out 2>err || code=$?
	[[ $code == 1 || $code == 2 ]] || fail "$*: exits with $code"
	grep -q -- "$words" err || fail "$*: no '$words' in: $(cat err)"
}
head -c 1100 any.log >cut.log
bad 'all_reduce.log' all_reduce.log -n ib-ndr
bad 'cut.log' cut.log -n ib-hdr
table all_reduce 2 4 65536 60 65536 90 >merged.log
bad 'merged.log:[0-9]*: ' merged.log -n ib-hdr
table all_reduce 2 4 65536 60 | sed 's/^\( *65536.*-1 *\)60.00/\10.06/' >units.log
bad 'units.log:[0-9]*: ' units.log -n ib-hdr
echo hello >hello.log
bad 'hello.log' hello.log -n ib-hdr
: >empty.log
bad 'empty.log' empty.log -n ib-hdr
bad 'missing.log' missing.log -n ib-hdr
bad 'a network is missing' any.log
bad 'no-such' any.log -n no-such
bad 'no-such' any.log -n ib-hdr -H no-such
bad 'no-such' any.log -n ib-hdr --library no-such
bad 'no-such' any.log -n ib-hdr --collective allreduce=no-such
bad 'expected OPERATION=ALGORITHM' any.log -n ib-hdr --collective ring
bad '401 ranks\|--nodes\|nodes' any.log -n ib-hdr,arity=2,levels=1 --per-node 1
printf '# OSU MPI Allreduce Latency Test v7.4\n# Datatype: MPI_INT.\n# Size       Avg Latency(us)\n4    1.5\n' >osu.log
bad '--ranks' osu.log -n ib-hdr
bad 'any.log' any.log -n ib-hdr -o any.log
