# What captures recorded of congestion: in info, the store, the report and the findings; and equal to
# what an independent decoder counts, pair by pair.
set -euo pipefail
shared=$TB_SHARED/data
[[ -d $shared/captures && -d $shared/cases ]] || {
	echo "skipped: no shared/data/captures and cases"
	exit 77
}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

fail() {
	echo "$*" >&2
	exit 1
}

cnp=$shared/cases/cnp-ecn-pfc/cnp.pcap
io=$shared/captures/io16_200m.pcap.zst

"$TAILBACK" info "$cnp" >info.txt
grep -q '24 marked packets, 24 CNPs, 5 pauses of 327,675 quanta in all$' info.txt || fail "info tells no marks: $(cat info.txt)"
grep -q 'of class 3 by 02:00:00:00:00:09: 5 times' info.txt || fail "info tells no class"
grep -q '10.0.0.1 > 10.0.0.4: 8 CNPs' info.txt || fail "info tells no pairs"

"$TAILBACK" replay -q "$cnp" -n ethernet,rate=10Gbit/s -o cnp.db
[[ $(sqlite3 cnp.db "SELECT sum(marked), sum(cnps), sum(pauses) FROM recorded_pair") == '24|24|5' ]] ||
	fail "the store has other marks"
[[ $(sqlite3 cnp.db "SELECT sum(marked), sum(cnps), sum(pauses) FROM recorded_bin") == '24|24|5' ]] ||
	fail "the bins add up to something else"
[[ $(sqlite3 cnp.db "SELECT class, pauses, resumes, quanta, at_most_ps IS NULL FROM recorded_pause") == '3|5|0|327675|1' ]] ||
	fail "the store has other pauses"

# Loss is said of the run and of its incasts.
"$TAILBACK" replay -q "$io" -n ethernet,rate=200Mbit/s -o io.db
"$TAILBACK" report --full io.db >report.txt
sed -n '/^Findings/,/^Configuration/p' report.txt | grep -q '^  - Before any replay, the capture recorded 7,353 retransmissions' ||
	fail "what was recorded is not told: $(head -8 report.txt)"
grep -q '^  - Recorded at node .*: .* retransmissions' report.txt || fail "an incast does not begin with what was lost"
# Of the first screen, too, with the flow that suffered most, its rate and why.
"$TAILBACK" report io.db | tr '\n' ' ' >brief.txt
grep -q 'Recorded at node .*: 2,509 retransmissions.* Worst of [0-9]* flows held up: [0-9.]* > [0-9.]* (2.9[0-9]* Mbit/s): of 6.5[0-9]* s it spent 372.[0-9]* ms in time-outs, 209.[0-9]* ms recovering losses, .* with nothing to send, .* sending; 243 retrans' brief.txt ||
	fail "the first screen does not say which flow suffered: $(cat brief.txt)"
# The parts of each flow's time add up to it, or more where connections stand beside each other; where nothing waits in the
# replay, the flow that lost most of its time comes first.
(($(sqlite3 io.db "SELECT count(*) FROM recorded_pair WHERE lasted_ps > 0 AND in_timeouts_ps + in_recovery_ps + in_window_ps + idle_ps
	+ sending_ps < lasted_ps") == 0)) || fail "a part of a flow's time is missing"
"$TAILBACK" replay -q "$TB_SOURCE/tests/data/closed_window.pcap.zst" -n ethernet,rate=1Gbit/s -o window.db
"$TAILBACK" report window.db | sed -n 3,6p | tr '\n' ' ' >window.txt
grep -q 'recorded 1 flow that was held up, .* was held up: of 4.506 s it spent 4.500 s held by the receiver.s window; 40 zero windows' window.txt ||
	fail "what held the flow up does not come first: $(cat window.txt)"
# What was sent again in vain weighs, but holds nothing up: the flow that time-outs held comes first.
python3 - >skew.pcap <<'PYTHON'
import struct
import sys

frames = []

def segment(at_us, source, destination, sequence, acknowledged, n):
    tcp = struct.pack(">HHIIBBHHH", 4000, 4000, sequence, acknowledged, 0x50, 0x10, 65535, 0, 0) + bytes(n)
    ip = struct.pack(">BBHHHBBHII", 0x45, 0, 20 + len(tcp), 0, 0x4000, 64, 6, 0, 0x0a000000 + source, 0x0a000000 + destination)
    frames.append((at_us, struct.pack(">6s6sH", b"\2\0\0\0\0\2", b"\2\0\0\0\0\1", 0x800) + ip + tcp))

for i in range(2000):
    segment(1000 * i, 1, 2, 1 + 100 * i, 1, 100)
    segment(1000 * i + 100, 2, 1, 1, 101 + 100 * i, 0)
    if i % 2:
        segment(1000 * i + 150, 1, 2, 1 + 100 * i, 1, 100)
for i in range(4):
    at_us, sequence = 500000 + 100200 * i, 1 + 100 * i
    segment(at_us, 3, 4, sequence, 1, 100)
    segment(at_us + 100, 4, 3, 1, sequence, 0)
    segment(at_us + 100000, 3, 4, sequence, 1, 100)
    segment(at_us + 100100, 4, 3, 1, sequence + 100, 0)
sys.stdout.buffer.write(struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 1))
for at_us, data in sorted(frames):
    sys.stdout.buffer.write(struct.pack("<IIII", at_us // 1000000, at_us % 1000000, len(data), len(data)) + data)
PYTHON
"$TAILBACK" replay -q skew.pcap -n ethernet,rate=1Gbit/s -o skew.db
"$TAILBACK" report skew.db | sed -n 3,8p | tr '\n' ' ' >skew.txt
grep -q 'Before any replay, .* 10.0.0.3 > 10.0.0.4 (.*) was held up: of 400.7 ms it spent 400 ms in time-outs' skew.txt ||
	fail "the flow that time-outs held does not come first: $(cat skew.txt)"
# Of RoCE: a receiver that was not ready, whose messages came again, and a flow that marks slowed down.
python3 - <<'PYTHON'
import struct

def frame(source, destination, opcode, sequence, rest=b"", ecn=0):
    bth = struct.pack(">BBHII", opcode, 0x40, 0xffff, 17, sequence) + rest + bytes(4)
    udp = struct.pack(">HHHH", 50000 + source, 4791, 8 + len(bth), 0) + bth
    ip = struct.pack(">BBHHHBBHII", 0x45, ecn, 20 + len(udp), 1, 0, 64, 17, 0, 0x0a000000 + source, 0x0a000000 + destination)
    return struct.pack(">6s6sH", b"\2\0\0\0\0" + bytes([destination]), b"\2\0\0\0\0" + bytes([source]), 0x800) + ip + udp

SEND, ACKNOWLEDGE, CNP = 0x04, 0x11, 0x81
frames = []
for i in range(40):
    data = frame(1, 2, SEND, i, bytes(1000))
    frames += [data, frame(2, 1, ACKNOWLEDGE, i, struct.pack(">I", 0x2e000000)), data,  # RNR NAK
               frame(2, 1, ACKNOWLEDGE, i, struct.pack(">I", 0x1f000000))]
    frames += [frame(3, 4, SEND, i, bytes(1000), ecn=3), frame(4, 3, CNP, 0, bytes(16))]
def write(name, frames):
    with open(name, "wb") as file:
        file.write(struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 1))
        for us, data in frames:
            file.write(struct.pack("<IIII", 0, us, len(data), len(data)) + data)

write("roce.pcap", [(10 * i, data) for i, data in enumerate(frames)])
# Node 6 answers after 5 ms what it is asked.
write("asked.pcap", [(5020 * i + after + n, frame(source, 11 - source, SEND, 8 * i + n, bytes(1000)))
                     for i in range(40) for after, source in ((0, 5), (5008, 6)) for n in range(8)])
PYTHON
"$TAILBACK" replay -q roce.pcap -n roce-100 -o roce.db
[[ $(sqlite3 roce.db "SELECT source, destination, not_ready, retransmissions FROM recorded_pair WHERE not_ready > 0") == '10.0.0.1|10.0.0.2|40|40' ]] ||
	fail "the store has other RNR NAKs"
"$TAILBACK" report roce.db | tr '\n' ' ' >roce.txt
grep -q '10.0.0.1 > 10.0.0.2 was held up: 40 RNR NAKs of a receiver that was not ready, 40 retransmissions. Congestion marks slowed down 10.0.0.3 > 10.0.0.4 (40 marked packets, 40 CNPs)' roce.txt ||
	fail "what held flows of RoCE up is not told: $(cat roce.txt)"

# What a node does before it sends is not seen: as a job, it computes, or waits for what is not in the capture.
"$TAILBACK" replay -q asked.pcap -n roce-100 --closed-loop -o asked.db
"$TAILBACK" report asked.db | tr '\n' ' ' >asked.txt
grep -q 'computing (all on node . (10.0.0.6), as it sent nothing, whatever it waited for)' asked.txt ||
	fail "who was silent is not told: $(cat asked.txt)"
# Of a run of some nodes only flows among those are named.
read -r from to < <(sqlite3 -separator ' ' io.db "SELECT source, destination FROM recorded_pair WHERE retransmissions > 0 ORDER BY retransmissions LIMIT 1")
printf '%s 0\n%s 1\n' "$from" "$to" >some.map
"$TAILBACK" replay -q "$io" -n ethernet,rate=200Mbit/s --map some.map -o some.db 2>/dev/null
"$TAILBACK" report some.db -f csv --list findings | grep ^recorded >said || fail "what some nodes suffered is not told"
grep -oE '([0-9]+\.){3}[0-9]+ > ([0-9]+\.){3}[0-9]+' said | grep -vxF -e "$from > $to" -e "$to > $from" && fail "flows are named that the run left out"
grep -q '^Recorded$' report.txt || fail "the report has no section Recorded"
"$TAILBACK" report -f json io.db | python3 -c '
import json, sys
report = json.load(sys.stdin)
bins = sum(row["retransmissions"] for row in report["recorded_bins"])
pairs = sum(row["retransmissions"] for row in report["recorded_pairs"])
assert bins == pairs == 7353, (bins, pairs)
assert [found["rule"] for found in report["findings"]].count("recorded") == 1'

# The time strip has a lane for each kind that there is, and no other.
printf 'expect sent again\nexpect windows\nrefuse marks\n' |
	SDL_VIDEODRIVER=dummy "$TAILBACK" view io.db --script - >/dev/null || fail "the viewer shows other lanes"
printf 'expect marks\nexpect pauses\nrefuse sent again\n' |
	SDL_VIDEODRIVER=dummy "$TAILBACK" view cnp.db --script - >/dev/null || fail "the viewer shows other lanes of marks"

# A closed loop keeps it too, and two replays keep the same.
"$TAILBACK" replay -q "$io" --closed-loop --no-bounds -n ethernet,rate=200Mbit/s -o closed.db
table="SELECT * FROM recorded_pair ORDER BY 1, 2, 3"
[[ $(sqlite3 io.db "$table" | sha256sum) == $(sqlite3 closed.db "$table" | sha256sum) ]] || fail "a closed loop keeps another table"

# A part of a capture has a part of it; the connections are followed from the beginning.
n=$("$TAILBACK" info --json --from 0.2s --to 1s "$io" | python3 -c 'import json, sys; print(json.load(sys.stdin)["congestion"]["retransmissions"])')
((n > 0 && n < 7353)) || fail "of a part $n were recorded"

if ! command -v tshark >/dev/null || ! command -v reordercap >/dev/null; then
	echo "skipped: no tshark to count beside"
	exit 77
fi
zstd -qd "$io" -o io16_200m.pcap
zstd -qd "$shared/captures/coll16_gso.pcap.zst" -o coll16_gso.pcap
gzip -dc "$shared/captures/rxe.pcap.gz" >rxe.pcap
python3 "$TB_SOURCE/tests/support/tshark_counts.py" "$TAILBACK" io16_200m.pcap coll16_gso.pcap rxe.pcap \
	"$shared"/captures/{suri,tcpdump}*.pcap "$shared/captures/zeek-nfs_write.pcap" \
	"$shared"/cases/{cnp-ecn-pfc,wan-latency,sliced-mirror}/*.pcap
