# Captures as switches and taps hand them out: sliced, stamped, mirrored, in the wrong order.
set -eu
cases=$TB_SHARED/data/cases
[[ -d $cases/sliced-mirror ]] || {
	echo "skipped: no shared/data/cases"
	exit 77
}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
fail()
{
	echo "$*"
	exit 1
}
# tells FILE FILTER...: each filter, in Python, holds of the summary.
tells()
{
	local file=$1
	shift
	"$TAILBACK" info --json "$file" >info.json
	for filter; do
		python3 -c 'import json, sys; s = json.load(open("info.json")); sys.exit(not eval(sys.argv[1], {}, s))' "$filter" ||
			fail "$file: not $filter: $(tr -d ' \n' <info.json)"
	done
}
whole='packets == 20 and pairs == 1 and nodes == 2 and undecodable == 0'
for file in full snap; do
	tells "$cases/sliced-mirror/$file.pcap" "$whole" 'wire_bytes == 20 * 1514 and sliced == 0'
done
for file in sliced erspan_trunc; do
	tells "$cases/sliced-mirror/$file.pcap" "$whole" 'wire_bytes == 20 * 1514 and sliced == 20' 'bytes == 20 * 1460'
done
tells "$cases/sliced-mirror/sliced_roce.pcap" "$whole" 'sliced == 20 and bytes < wire_bytes'
"$TAILBACK" info "$cases/sliced-mirror/sliced.pcap" | grep -q 'sliced  *20 records cut before the capture' ||
	fail "sliced frames are not noted"
tells "$cases/arista-timestamp/arista.pcap" "$whole" "types['between_macs'] == []"
# The wrong order makes no one wait, as the right one does not.
for order in back fwd; do
	file=$cases/clock-backwards/$order.pcap.gz
	tells "$file" 'packets == 8000 and late == 0' "clock_steps == ('$order' == 'back')"
	"$TAILBACK" info "$file" | grep -q 'captured  *2023-11-14T21:13:20' || fail "$order begins elsewhere"
	"$TAILBACK" replay -q "$file" -n ethernet,rate=1Gbit/s -o "$order.db"
	wait=$(sqlite3 "$order.db" 'SELECT sum(wait_for_ps) FROM link_total')
	[[ $wait == 0 ]] || fail "$order: $wait ps of wait"
done
# Sampled: scaled, said in each heading, and no job.
"$TAILBACK" replay -q "$cases/sliced-mirror/full.pcap" --sampled 100 -n ethernet -o sampled.db
[[ $(sqlite3 sampled.db 'SELECT n_messages FROM run') == 2000 ]] || fail "packets are not scaled"
for heading in "info $cases/sliced-mirror/full.pcap --sampled 100" "report sampled.db" "matrix sampled.db"; do
	# shellcheck disable=SC2086
	"$TAILBACK" $heading >heading
	tr '\n' ' ' <heading | grep -qE '1 packet of 100' || fail "'$heading' does not tell of samples"
done
if "$TAILBACK" replay -q "$cases/sliced-mirror/full.pcap" --sampled 100 --closed-loop -o none.db 2>err; then
	fail "a job was inferred of samples"
fi
grep -q 'is sampled' err || fail "$(cat err)"
