# A slow cable is found by counters alone: to a host, and between switches; and what a run of counters holds is read by
# everything that reads runs.
set -euo pipefail
command -v sqlite3 >/dev/null || {
	echo "skipped: no sqlite3"
	exit 77
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'echo "line $LINENO: $BASH_COMMAND"; cat said 2>/dev/null' ERR
cd "$work"
# shellcheck source=/dev/null
. "$TB_SOURCE/tests/support/counter_dumps.sh"
ask() { sqlite3 "$1" "$2"; }

"$TAILBACK" network -n ib-hdr,arity=4,levels=2 -f ibnetdiscover -o fabric
"$TAILBACK" synth uniform --nodes 16 --message 64K --messages 16 -o job.goal

# measure NAME FABRIC: the dumps that a replay would leave, as a run of counters in NAME.db.
measure() {
	dump_counters "$1.sim.db" 4000000 perfquery 0 >before
	dump_counters "$1.sim.db" 4000000 perfquery >after
	"$TAILBACK" counters -q before after -n "$2" --interval "${interval-1500us}" -o "$1.db"
	"$TAILBACK" report "$1.db" -f json >"$1.json"
}

for node in 2 5 13; do
	"$TAILBACK" replay -q job.goal -n fabric --slow "$node=2GB/s" -o "host$node.sim.db"
	measure "host$node" fabric
	[[ $(ask "host$node.db" 'SELECT link FROM hot_links LIMIT 1') == *"> node$node" ]]
	python3 - "host$node.json" "node$node" <<-'END'
		import json, sys
		report = json.load(open(sys.argv[1]))
		finding = next(f for f in report["findings"] if f["rule"] == "wait-begins")
		link = next(l for l in report["hot_links"] if l["link"] == finding["figures"]["link"])
		assert link["name"].endswith("> " + sys.argv[2]), link
		assert link["rank"] == 1, link
	END
done
# Dumps in the wrong order.
! "$TAILBACK" counters -q after before -n fabric --interval 1500us -o swapped.db 2>said
grep -q 'the earlier dump comes first' said
[[ ! -e swapped.db ]]

# A cable between two switches at an eighth of the others' rate, as the fabric's file has it: no port before it can send.
sed -E '/^Switch.*"0\.1"/,/^$/s/^(\[5\].*) 4xHDR/\1 1xFDR/; /^Switch.*"1\.0"/,/^$/s/^(\[2\].*) 4xHDR/\1 1xFDR/' fabric >slow
cmp -s fabric slow && exit 1
"$TAILBACK" replay -q job.goal -n slow,preset=ib-hdr -o cable.sim.db
measure cable slow,preset=ib-hdr
python3 - <<'END'
import json
report = json.load(open("cable.json"))
finding = next(f for f in report["findings"] if f["rule"] == "wait-begins")
assert "0.1:5 > 1.0:2" in finding["sentence"] or "1.0:2 > 0.1:5" in finding["sentence"], finding
END

# Two slow hosts are two findings, and a healthy fabric, however it is loaded, has none.
begins() { # NAME: each place where a wait begins, gravest first
	python3 - "$1" <<-'END'
		import json, sys
		report = json.load(open(sys.argv[1] + ".json"))
		for finding in report["findings"]:
		    if finding["rule"] in ("wait-begins", "not-measured"):
		        print(finding["sentence"])
	END
}
"$TAILBACK" synth uniform --nodes 16 --message 1M --messages 16 -o big.goal
"$TAILBACK" replay -q job.goal -n fabric --slow 2=2GB/s --slow 13=3GB/s -o two.sim.db
"$TAILBACK" replay -q job.goal -n fabric -o none.sim.db
"$TAILBACK" replay -q big.goal -n fabric -o big.sim.db
for name in two none; do measure $name fabric; done
interval=10ms measure big fabric
[[ $(begins two | grep -o 'end of .*> node[0-9]*,') == $'end of 0.0 > node2,\nend of 0.3 > node13,' ]]
[[ $(begins none; begins big) == '' ]]
grep -q 'had to wait' big.json

# plant NAME PORT=WAIT,BUSY ... : dumps of ports that could not send for WAIT % of 60 s, and sent for BUSY %; all others hardly did. Those
# called "reset" were reset in between, and WAIT is what they counted since.
plant() {
	local name=$1
	shift
	sqlite3 -separator '	' none.sim.db 'SELECT coalesce(s.guid, n.guid), CASE WHEN l.from_node IS NULL THEN l.from_number ELSE 1 END, m.name
		FROM link AS l JOIN link_name AS m USING (run, link) LEFT JOIN switch AS s ON s.run = l.run AND s.switch = l.from_switch
		LEFT JOIN node AS n ON n.run = l.run AND n.node = l.from_node' >ports
	python3 - "$@" <<-'END'
		import sys
		planted = dict(a.rsplit("=", 1) for a in sys.argv[1:])
		ticks, words = 25e9 / 8 * 60 / 100, 25e9 / 4 * 60 / 100
		files = [open("before", "w"), open("after", "w")]
		head = "timestamp,guid,port,PortXmitWaitExtended,PortXmitDataExtended,SymbolErrorCounter"
		print("%s\n" % head, end="", file=files[0])
		print("%s\n" % head, end="", file=files[1])
		for line in open("ports"):
		    guid, port, link = line.rstrip("\n").split("\t")
		    what = planted.pop(link, "0.01,0.1").split(",") + ["0"]
		    reset = what[2] == "reset"
		    ends = (int(ticks * 200), 10**9, 0), (int(ticks * (0 if reset else 200) + ticks * float(what[0])),
		        10**9 + int(words * float(what[1])), 0 if reset else int(what[2]))
		    for file, values, minute in zip(files, ends, (0, 1)):
		        print("2026-11-30 10:%02d:00,%s,%s,%d,%d,%d" % (minute, guid, port, *values), file=file)
		assert not planted, planted
	END
	"$TAILBACK" counters before after -n fabric -o "$name.db" 2>said
	grep -q ' over 60 s$' said
	"$TAILBACK" report "$name.db" -f json >"$name.json"
}

# A slow host that holds those of a leaf, a cable that is full, and another slow host beside them, whose leaf leads to both hosts.
plant several '0.1 > node5=97,2' '1.0:2 > 0.1:5=50,1' '0.2:5 > 1.0:3=30,1' 'node8 > 0.2=40,1' 'node9 > 0.2=40,1' \
	'0.3:6 > 1.1:4=2,99' 'node12 > 0.3=50,20' 'node13 > 0.3=50,20' 'node14 > 0.3=50,20' 'node15 > 0.3=50,20' \
	'0.0 > node2=60,50' '0.0:5 > 1.0:1=20,1' 'node3 > 0.0=45,1'
begins several >several
[[ $(wc -l <several) == 3 ]]
sed -n 1p several | grep -q 'at the end of 0.1 > node5, held for 97 %.* It holds node8 and node9, and 3 ports of switches. For it or for another may wait node3.$'
sed -n 2p several | grep -q 'behind node12 > 0.3, .* and 3 more ports .* 0.3:6 > 1.1:4 carries most, 99 %.* It holds node12, node13, node14 and 1 more.$'
sed -n 3p several | grep -q 'at the end of 0.0 > node2, held for 60 %.* For it or for another may wait node3.$'
plant equal '0.1 > node5=90,2' '0.0 > node2=90,2'
[[ $(begins equal | grep -o 'end of .*> node[0-9]*,') == $'end of 0.0 > node2,\nend of 0.1 > node5,' ]]

# What was reset is not known, and nothing is concluded from it, but from the others. A cable that counted errors is named, not the idle ones.
plant reset '1.0:2 > 0.1:5=70,1' '0.2:5 > 1.0:3=60,1' '0.1 > node5=0.1,2,reset' '0.3 > node13=50,2'
begins reset >reset
[[ $(wc -l <reset) == 2 ]]
grep -q 'behind 1.0:2 > 0.1:5 begins is not known: how long 0.1 > node5, which leads on' reset
grep -q 'at the end of 0.3 > node13' reset
[[ $(ask reset.db "SELECT wait FROM link_known JOIN link_name USING (run, link) WHERE name = '0.1 > node5'") == 'not measured' ]]
plant bad '1.0:2 > 0.1:5=70,40,54321' '0.2:5 > 1.0:3=25,20'
[[ $(begins bad) == *'behind 1.0:2 > 0.1:5, held for 70 % of the time: from the switch there no link is held for long, and that cable counted errors.'* ]]
plant idle 'node8 > 0.2=40,1' 'node9 > 0.2=40,1'
[[ $(begins idle) == *'carries more than 0.1 % of what its rate allows, so what is short is not in the counters.'* ]]

# What reads runs reads it.
"$TAILBACK" matrix host5.db -f json | python3 -c 'import json, sys; json.load(sys.stdin)'
"$TAILBACK" report host5.db -o report.html
grep -q 'measured by counters' report.html
[[ $(grep -c 'imulated time' report.html) == 0 ]]
"$TAILBACK" info host5.db | grep -q counters
! SDL_VIDEODRIVER=dummy "$TAILBACK" view host5.db --view trees --screenshot none.png 2>said
grep -q "the view 'trees' has nothing to show: .* this run was measured" said
printf 'key F6\nexpect measured by counters\n' | SDL_VIDEODRIVER=dummy "$TAILBACK" view host5.db --script -
"$TAILBACK" report host5.db --schema >schema.json
cmp schema.json "$TB_SOURCE/schemas/report.schema.json"
! "$TAILBACK" advise host5.db 2>said
grep -q 'measured by counters' said
! "$TAILBACK" timeline host5.db 2>said
grep -q 'measured by counters' said
