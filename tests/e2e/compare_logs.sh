# What changed between two logs of benchmarks: a bandwidth, a latency, sizes in between, a host, chance; other hosts are
# named; the gate; what is no log.
# shellcheck disable=SC2046 # tables of words
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
# says A B WORDS...: comparing them says each.
says() {
	"$TAILBACK" compare "$1" "$2" >said || fail "compare $1 $2 exits with $?"
	for words in "${@:3}"; do grep -q -- "$words" said || fail "compare $1 $2: no '$words' in: $(cat said)"; done
}

# times LATENCY_US US_PER_MIB: sizes from 1 KiB to 1 GiB, each four times the one before.
times() { for i in {0..10}; do echo "$((1024 << 2 * i))" "$(awk "BEGIN { print $1 + $2 * 4^$i / 1024 }")"; done; }
table all_reduce 2 8 $(times 30 5) >mon.log
table all_reduce 2 8 $(times 30 10) >half.log
table all_reduce 2 8 $(times 30 5.714) >seven.log
table all_reduce 2 8 $(times 45 5) >late.log
table all_reduce 2 8 $(times 39 6.5) >all.log
says mon.log half.log \
	'^half.log is slower than mon.log from 256 KiB on: allreduce, 16 ranks, reaches 0.50 to 0.96 of its speed (bus bandwidth 390.9 GB/s, then 196.0 GB/s, at 1 GiB), beyond what one run scatters by (below 0.1 %)\.$' \
	'^A bandwidth, not a latency: smaller sizes are no slower, and 0.50 of the speed is left at the largest size; half is what half of the adapters, ' \
	'^ *allreduce  *16  *1 MiB  *35 us  *40 us  *56.17 GB/s  *49.15 GB/s  *0.8[78]  *0.0 %  *slower$'
says mon.log seven.log 'if each of the 8 ranks of a host has an adapter, one that is down leaves that'
says mon.log late.log 'late.log is slower than mon.log up to 64 MiB: .* (30.08 us, then 45.08 us, at 16 KiB)' 'A latency, not a bandwidth: a call takes 15.* longer, and larger ones are no slower'
says mon.log all.log 'all.log is slower than mon.log: allreduce, 16 ranks, reaches 0.77 of its speed' 'All sizes by about the same factor'
says half.log mon.log '^mon.log is faster than half.log from 256 KiB on: .*, reaches 1.04 to 1.99 of its speed'
times 30 5 | awk '$1 >= 65536 && $1 <= 262144 { $2 *= 1.7 } { print }' >bump
table all_reduce 2 8 $(cat bump) >bump.log
says mon.log bump.log 'slower than mon.log from 64 KiB to 256 KiB' 'another algorithm or protocol in between'

times 15 10 >mixed
table all_reduce 2 8 $(cat mixed) >mixed.log
says mon.log mixed.log '^mixed.log is faster than mon.log up to 1 MiB: .*; slower from 4 MiB on (0.50 to 0.91)\.$'

# A small size that is off by chance is no part of what the others tell.
times 30 10 | awk 'NR == 1 { $2 *= 1.06 } { print }' >odd
table all_reduce 2 8 $(cat odd) >odd.log
says mon.log odd.log 'slower than mon.log at 8 of 11 sizes from 1 KiB to 1 GiB' '^A bandwidth, not a latency: smaller sizes are no slower, '

# Other hosts, another library.
table all_reduce 2 8 --hosts gpu7,node000 $(times 30 5) | sed '1i NCCL version 2.21.5+cuda12.4' >moved.log
sed '1i NCCL version 2.18.3+cuda12.2' mon.log >old.log
says old.log moved.log 'moved.log is as fast as old.log: ' '^The logs differ in: version NCCL 2.18.3+cuda12.2, then NCCL 2.21.5+cuda12.4; hosts node001, then gpu7\.$'

# Of several runs in each log the median is compared with how far they lie apart; one run in five may be odd.
for us in 100 101 102 103 250; do table all_reduce 2 8 67108864 $us; done >a.log
for us in 102 104 103 101 105; do table all_reduce 2 8 67108864 $us; done >b.log
for us in 120 121 122 119 118; do table all_reduce 2 8 67108864 $us; done >c.log
says a.log b.log 'b.log is as fast as a.log at 64 MiB: .* within what runs in one log scatter by (2.0 %)'
says a.log c.log 'c.log is slower than a.log at 64 MiB: .* reaches 0.85 of its speed .* beyond what runs in one log scatter by'

# Pairs of four hosts, of which one became slow.
for slow in =1 c=2; do
	for pair in a,b a,c a,d b,c b,d c,d; do table all_reduce 2 1 --hosts $pair --slow $slow 67108864 3000 268435456 9000; done >"pairs$slow.log"
done
mv pairs=1.log before.log
mv pairsc=2.log after.log
says before.log after.log '^after.log is slower than before.log in part: 3 of 6 groups of hosts, all with c, reach 0.50 (a - c), 0.50 (b - c), 0.50 (c - d) of the speed before; the others: allreduce, 2 ranks, reaches 1.00 of its speed'
sed '/^ *268435456 /d' after.log >fewer.log
says before.log fewer.log 'in part: 3 of 6 groups of hosts, all with c, reach 0.50 (a - c),' '^In one log alone: 12 rows of before.log, 0 of fewer.log; they are left out\.$'

# Each size once: what neighbouring sizes scatter by; of few sizes nothing is known.
osu() {
	printf '# OSU MPI Allreduce Latency Test v7.4\n# Size       Avg Latency(us)\n'
	for i in {0..9}; do echo "$((4 << 2 * i)) $(awk "BEGIN { print ($1 + $2 * 4^$i / 256) * (1 + $3 * ($i % 2)) }")"; done
}
osu 10 1 0 >osu_a.txt
osu 10 1 .06 >osu_noise.txt
osu 10 2 0 >osu_half.txt
says osu_a.txt osu_noise.txt 'not told apart from osu_a.txt: allreduce, reaches 0.94 to 1.00 of its speed, within what neighbouring sizes scatter by'
sed '$s/ .*/ 1200/' osu_a.txt >osu_last.txt
says osu_a.txt osu_last.txt 'slower than osu_a.txt at 1 MiB' 'One size alone is slower: measure it again'
says osu_a.txt osu_half.txt 'slower than osu_a.txt from 1 KiB on: allreduce, reaches 0.50 to 0.92'
head -n 5 osu_a.txt >few_a.txt
head -n 5 osu_half.txt >few_b.txt
says few_a.txt few_b.txt 'each size stands once, so scatter is not known'

# Sizes of less than a byte for each rank are printed as 0 bytes, several times; values that are wrong are left out.
sed '/^ *1024 /{h; s/^ *1024  *1024/0 0/; s/30\.00/31.00/; p; s/31\.00/32.00/; p; g}' mon.log | sed '/^0 0/s/ [0-9.]*  *[0-9.]*  *0 / 0.00 0.00 0 /g' >zeros.log
says mon.log zeros.log 'zeros.log is as fast as mon.log: '
table all_reduce 2 8 --wrong 4194304 $(times 30 5) >wrong.log
says mon.log wrong.log '^Wrong values by the benchmark.s own check: 0 rows of mon.log, 2 of wrong.log; they are left out\.$'

# Other formats, and the gate.
"$TAILBACK" compare mon.log half.log -f csv | grep -q '^allreduce,16,1073741824,5150000000,' || fail "no row of CSV"
"$TAILBACK" compare mon.log half.log -o t.md
grep -q '^- half.log is slower' t.md && grep -q '^| *allreduce' t.md || fail "no Markdown"
code=0
"$TAILBACK" compare mon.log half.log --fail-run-over 50 >/dev/null 2>err || code=$?
[[ $code == 3 ]] && grep -q 'up to 99.42 % longer in B (half.log) than in A (mon.log), more than 50 %' err || fail "--fail-run-over: $code $(cat err)"
"$TAILBACK" compare mon.log half.log --fail-run-over 100 >/dev/null || fail "--fail-run-over of less"

# Long names are no fault.
long=$(printf 'x%.0s' {1..200})
mkdir -p "$long/$long/$long"
cp mon.log half.log "$long/$long/$long"
says "$long/$long/$long/mon.log" "$long/$long/$long/half.log" 'is slower than' 'A bandwidth, not a latency'

# bad WORDS ARGUMENT...: one sentence has these words.
bad() {
	local words=$1 code=0
	shift
	"$TAILBACK" compare "$@" >out 2>err || code=$?
	[[ $code == 1 || $code == 2 ]] || fail "$*: exits with $code"
	grep -q -- "$words" err || fail "$*: no '$words' in: $(cat err)"
}
table alltoall 2 8 1048576 100 >other.log
bad 'has no operation, size and number of ranks that mon.log has: alltoall of 16 ranks beside allreduce of 16 ranks' mon.log other.log
bad 'is compared with itself' mon.log mon.log
bad 'are of stores' mon.log half.log --full
bad 'are of stores' mon.log half.log --run 1
bad 'as text, Markdown or CSV' mon.log half.log -f json
echo hello >hello.log
bad 'hello.log: has no table of a benchmark' mon.log hello.log
bad 'no Tailback store' hello.log hello.log
head -c 1500 mon.log >cut.log
bad 'cut.log' mon.log cut.log
printf 'NIC statistics:\n     rx_bytes_phy: 1\n' >n1:eth0.txt
cp n1:eth0.txt n2:eth0.txt
bad "tailback counters n1:eth0.txt n2:eth0.txt -n FABRIC -o live.db" n1:eth0.txt n2:eth0.txt
