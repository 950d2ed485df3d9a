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
	"$TAILBACK" counters -q before after -n "$2" --interval 1500us -o "$1.db"
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

# What reads runs reads it.
"$TAILBACK" matrix host5.db -f json | python3 -c 'import json, sys; json.load(sys.stdin)'
"$TAILBACK" report host5.db -o report.html
grep -q 'measured by counters' report.html
"$TAILBACK" info host5.db | grep -q counters
printf 'key F6\nexpect measured by counters\n' | SDL_VIDEODRIVER=dummy "$TAILBACK" view host5.db --script -
"$TAILBACK" report host5.db --schema >schema.json
cmp schema.json "$TB_SOURCE/schemas/report.schema.json"
! "$TAILBACK" advise host5.db 2>said
grep -q 'measured by counters' said
! "$TAILBACK" timeline host5.db 2>said
grep -q 'measured by counters' said
