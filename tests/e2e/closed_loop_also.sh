#!/bin/bash
# A second capture of the same program narrows the range of a closed loop, which still holds the
# measured time; a capture of another program is refused. judge_range.py --also judges all pairs.
set -euo pipefail
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"

fail() {
	echo "$1"
	exit 1
}

# As many bytes, but of other endpoints.
zstd -qd "$TB_SOURCE/tests/data/alltoall16.pcap.zst" -o a.pcap
perl -0777 -pe 's/\x0a\x4d\x00(.)\x0a\x4d\x00/\x0a\x4e\x00$1\x0a\x4e\x00/sg' a.pcap > b.pcap
code=0
"$TAILBACK" replay a.pcap --closed-loop --also b.pcap -n ethernet -o no.db 2> said.txt || code=$?
[[ $code == 2 ]] && grep -q 'of which 0 % are between the same nodes' said.txt || fail "exit $code: $(cat said.txt)"
"$TAILBACK" replay -q a.pcap --closed-loop --also a.pcap -n ethernet -o same.db

# What chooses the closest job is skipped, so nobody can ask for that.
for without in check range; do
	code=0
	"$TAILBACK" replay a.pcap --closed-loop --hypothesis closest "--no-$without" -o none.db 2> said.txt || code=$?
	[[ $code == 2 && ! -e none.db ]] || fail "exit $code: $(cat said.txt)"
	grep -q "hypothesis=closest does not go with --no-$without" said.txt || fail "$(cat said.txt)"
done
"$TAILBACK" replay -q a.pcap --closed-loop --hypothesis likely --no-check --no-range -n ethernet -o likely.db

whatif=$TB_SHARED/data/whatif
if [[ ! -d $whatif ]]; then
	echo "skipped: $whatif is not here, with captures of programs and how long they took"
	exit 77
fi
. "$TB_SOURCE/tests/support/real_input.sh"
for capture in ring8_10m halo8_10m halo8_50m; do
	there "whatif/$capture.pcap.zst" || {
		echo "skipped: $capture is not here"
		exit 77
	}
done

# times PROGRAM RATE CAPTURED: seconds, start and end of one such run.
times() {
	awk -F, -v program="$1" -v rate="$2" -v captured="$3" \
		'$1 == program && $2 == rate && $4 == captured { print $5, $6, $7; exit }' "$whatif/times.csv"
}

ask() {
	sqlite3 "$1" "SELECT $2 FROM run JOIN run_range USING (run)"
}

read -r _ begin end <<< "$(times halo8 10 1)"
read -r _ begin2 end2 <<< "$(times halo8 50 1)"
read -r wanted _ <<< "$(times halo8 100 0)"
span=(--from "$begin" --to "$end")
also=$whatif/halo8_50m.pcap.zst,from=$begin2,to=$end2
replay=("$TAILBACK" replay "$whatif/halo8_10m.pcap.zst" --closed-loop --no-blame "${span[@]}")
shaped=(-n "ethernet-shaped,rate=100Mbit/s")

"${replay[@]}" "${shaped[@]}" -q -o one.db
"${replay[@]}" "${shaped[@]}" --also "$also" -o two.db 2> said.txt
read -r one two <<< "$(ask one.db 'most_ps - least_ps') $(ask two.db 'most_ps - least_ps')"
((2 * two < one)) || fail "with a second capture the range is $two ps wide, without $one"
[[ $(ask two.db "$wanted * 1e12 BETWEEN least_ps AND most_ps") == 1 ]] ||
	fail "the range misses $wanted s: $(ask two.db 'least_ps / 1e12, most_ps / 1e12')"
grep -q '^also: .*halo8_50m.*captured at 6.2.* MB/s a port, took .* and narrows the range: .*between the same nodes' said.txt ||
	fail "no note on the second capture: $(cat said.txt)"
[[ $(sqlite3 two.db "SELECT options LIKE '%--also %halo8_50m%,from=$begin2,to=$end2%' FROM run") == 1 ]] ||
	fail "the store's options lack the second capture"

"$TAILBACK" info two.db | grep -q 'halo8_50m.*narrows the range' || fail "info does not name the second capture"

# On more than one switch measured times say nothing, but the second capture's bounds do.
"${replay[@]}" -q -n ethernet,levels=2,arity=4,rate=100Mbit/s --also "$also" -o tree.db
"${replay[@]}" -q -n ethernet,levels=2,arity=4,rate=100Mbit/s -o tree_one.db
[[ $(ask tree.db most_ps) -lt $(ask tree_one.db most_ps) ]] || fail "on a tree the second capture's bounds are not used"

# refused EXPECTED OPTION...: one sentence, a code, no store.
refused() {
	local code=0
	"$TAILBACK" replay "$whatif/halo8_10m.pcap.zst" "${span[@]}" -n ethernet -o no.db "${@:2}" 2> said.txt || code=$?
	[[ $code == 2 && ! -e no.db ]] || fail "exit $code: $(cat said.txt)"
	grep -q "$1" said.txt || fail "$(cat said.txt)"
}
refused 'expected a capture of the same program' --closed-loop --also "$whatif/ring8_10m.pcap.zst"
refused 'expected FILE\[,from=TIME\]' --closed-loop --also "$whatif/ring8_10m.pcap.zst,to=soon"
refused 'also goes with --closed-loop only' --also "$also"
refused 'also does not go with --no-range' --closed-loop --no-range --also "$also"
