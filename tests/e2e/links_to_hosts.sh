# Links to hosts are drawn and listed as all others are, on a single switch too: a slow receiver that counters saw, and one that was
# simulated. What nobody measured is no 0.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'echo "line $LINENO: $BASH_COMMAND"' ERR
cd "$work"
export SDL_VIDEODRIVER=dummy

# Pauses that a switch received on one of its ports; nobody asked the third port.
for i in 0 1 2; do echo "n$i eth0 tor Ethernet$((i * 4)) 100Gbit/s"; done >net.edges
pauses() {
    printf '   Port Rx    PFC0    PFC3\n----------  ------  ------\n Ethernet0       0  %6s\n Ethernet4       0       0\n\n' "$1"
    printf '   Port Tx    PFC0    PFC3\n----------  ------  ------\n Ethernet0       0       0\n Ethernet4       0       0\n'
}
mkdir before after
pauses 0 >before/tor.txt
pauses 1,234 >after/tor.txt
"$TAILBACK" counters before after -n net.edges,preset=roce-100 --interval 60s -o pauses.db 2>/dev/null >/dev/null
"$TAILBACK" matrix pauses.db >matrix.txt
[[ $(grep -c 'Nothing to show' matrix.txt) == 0 ]] # with '! grep' bash would go on
grep -q '100 % of a link: .* (tor > n0)' matrix.txt
"$TAILBACK" matrix pauses.db -f csv >matrix.csv
[[ $(tail -n +2 matrix.csv | cut -d, -f5 | grep -c .) == 6 ]]
[[ $(tail -n +2 matrix.csv | cut -d, -f5 | grep . | sort | uniq -d) == '' ]]
grep -q '^0,tor,.*,tor > n0,[1-9][0-9]*,100.000,for,at most$' matrix.csv
grep -q '^0,tor,.*,tor > n1,0,0.000,for,$' matrix.csv
grep -q '^0,tor,.*,tor > n2,,,for,$' matrix.csv
"$TAILBACK" report pauses.db -f json | python3 -c 'import json, sys
for link in json.load(sys.stdin)["hot_links"]:
    assert [link["queue_" + key + "_ps"] for key in ("at", "stood", "stood_from")] == [None] * 3'
"$TAILBACK" matrix pauses.db -f json |
    python3 -c 'import json, sys; assert [c["value"] for c in json.load(sys.stdin)["cells"] if c["link_name"] == "tor > n2"] == [None]'
"$TAILBACK" matrix pauses.db -o matrix.svg
grep -q 'tor &gt; n0: .*100.0 % of the most loaded link' matrix.svg
grep -q 'tor &gt; n2: not measured' matrix.svg
"$TAILBACK" top pauses.db >top.txt
[[ $(grep -c 'Nothing to show' top.txt) == 0 ]] # with '! grep' bash would go on
grep -q '^ *1 tor > n0' top.txt
printf 'refuse Nothing to show\nexpect ≤ \nkey F4\nexpect tor > n0\n' | "$TAILBACK" view pauses.db --script -

# Node 3 drains at a tenth of its link's rate; three others send to it.
printf 'num_ranks 4\n' >slow.goal
for i in 0 1 2; do printf 'rank %d {\nl0: send 4000000b to 3 tag 0\n}\n' $i; done >>slow.goal
printf 'rank 3 {\nl0: recv 4000000b from 0 tag 0\nl1: recv 4000000b from 1 tag 0\nl2: recv 4000000b from 2 tag 0\n}\n' >>slow.goal
for network in ib-hdr roce-100; do
    "$TAILBACK" replay slow.goal -n $network,levels=1,arity=4 --slow 3=1GB/s -q -o slow.db
    for words in 'wait for "for"' 'wait came-by "came-by"' 'queue came-by "for"' 'bytes for null'; do
        read -r metric shown told <<<"$words"
        "$TAILBACK" matrix slow.db -m $metric --wait $shown -f json >told.json
        grep -q "^  \"wait\": $told,$" told.json
    done
    "$TAILBACK" matrix slow.db -m stall -f csv >stall.csv
    grep -q '^0,0.0,.*,0.0 > node 3,[1-9][0-9]*,9[0-9]\.[0-9]*,,$' stall.csv
    [[ $(cut -d, -f5 stall.csv | grep -c ' > ') == 8 ]]
    printf 'key m\nrefuse Nothing to show\n' | "$TAILBACK" view slow.db --size 1280x1000 --script -
    # How deep its queue was, and how long it stood, as its bins have it: they are without a gap.
    read -r link bin_us < <(sqlite3 -separator ' ' slow.db "SELECT link, bin_ps / 1000000 FROM link_name, run WHERE name = '0.0 > node 3'")
    read -r first n < <(sqlite3 -separator ' ' slow.db "SELECT min(bin), count(*) FROM link_bin WHERE link = $link AND wait_for_ps > 0")
    read -r at bytes < <(sqlite3 -separator ' ' slow.db "SELECT bin, largest_queue_bytes FROM link_bin WHERE link = $link
        ORDER BY largest_queue_bytes DESC, bin LIMIT 1")
    [[ $first == 0 ]]
    stood=$(awk "BEGIN { printf \"0 ps to %.2f ms\", $n * $bin_us / 1000 }")
    most=$(awk "BEGIN { printf \"%.4g KiB at %s\", $bytes / 1024,
        $at * $bin_us < 1000 ? $at * $bin_us \" us\" : sprintf(\"%.4g ms\", $at * $bin_us / 1000) }")
    printf 'key /\ntype 0.0 > node 3\nkey Return\nexpect %s\nwheel 1150 800 -40\nexpect %s\n' "$stood" "$most" |
        "$TAILBACK" view slow.db --size 1280x1000 --script -
    [[ $("$TAILBACK" report slow.db -f csv --top 0 | awk -F, '
        NR == 1 { for (i = 1; i <= NF; i++) of[$i] = i }
        $of["name"] == "0.0 > node 3" { print $of["queue_at_ps"], $of["queue_stood_ps"], $of["queue_stood_from_ps"] }
        ') == "$((at * bin_us))000000 $((n * bin_us))000000 0" ]]
    rm slow.db
done
