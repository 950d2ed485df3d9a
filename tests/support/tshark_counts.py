# Compares what `tailback info --json` recorded of congestion in captures with what tshark counts,
# pair by pair: tshark_counts.py TAILBACK CAPTURE... It prints a line per capture, and those that
# differ; the exit code is their number (at most 100). Captures are put in the order of time first,
# as Tailback does and tshark does not; without that they differ where packets are out of order in
# the file.
import collections
import json
import os
import subprocess
import sys
import tempfile

# Tailback's figure, tshark's filter: a field that is there, or has a value.
FIGURES = {
    "retransmissions": ("tcp.analysis.retransmission", None),
    "fast_retransmissions": ("tcp.analysis.fast_retransmission", None),
    "spurious_retransmissions": ("tcp.analysis.spurious_retransmission", None),
    "keep_alives": ("tcp.analysis.keep_alive", None),
    "duplicate_acks": ("tcp.analysis.duplicate_ack", None),
    "out_of_order": ("tcp.analysis.out_of_order", None),
    "zero_windows": ("tcp.analysis.zero_window", None),
    "full_windows": ("tcp.analysis.window_full", None),
    "marked": ("ip.dsfield.ecn", "3"),
    "cnps": ("infiniband.bth.opcode", "129"),
}
OTHERS = ["ip.src", "ipv6.src", "eth.src", "ip.dst", "ipv6.dst", "eth.dst", "tcp.stream",
          "tcp.analysis.initial_rtt", "tcp.analysis.ack_rtt", "ipv6.tclass.ecn", "macc.opcode",
          "macc.cbfc.enbv"]


def ends(row):
    """The innermost addresses of a frame."""
    found = []
    for end in ("src", "dst"):
        ip, ip6 = row["ip." + end], row["ipv6." + end]
        found.append((ip or ip6 or row["eth." + end]).split(",")[-1])
    return tuple(found)


def by_tshark(path):
    fields = [field for field, _ in FIGURES.values()] + OTHERS
    command = ["tshark", "-n", "-r", path, "-T", "fields", "-E", "occurrence=a"]
    for field in fields:
        command += ["-e", field]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    counts = collections.Counter()
    handshakes, answers = {}, []
    for line in text.splitlines():
        row = dict(zip(fields, line.split("\t")))
        pair = ends(row)
        for name, (field, value) in FIGURES.items():
            if name == "zero_windows":  # Tailback's are of the flow that they stop.
                counts[name, pair[::-1]] += row[field] != ""
            elif value is None:
                counts[name, pair] += row[field] != ""
            elif value in row[field].split(","):
                counts[name, pair] += 1
        if "3" in row["ipv6.tclass.ecn"].split(","):
            counts["marked", pair] += 1
        if row["macc.opcode"]:
            classes = row["macc.cbfc.enbv"]
            counts["pauses", pair] += bin(int(classes, 0) & 255).count("1") if classes else 1
        if row["tcp.analysis.initial_rtt"]:
            handshakes[row["tcp.stream"]] = row["tcp.analysis.initial_rtt"]
        if row["tcp.analysis.ack_rtt"]:
            answers.append(round(float(row["tcp.analysis.ack_rtt"].split(",")[0]) * 1e9))
    return +counts, list(handshakes.values()), answers


def by_tailback(tailback, path):
    text = subprocess.run([tailback, "info", "--json", path], capture_output=True, text=True)
    try:
        recorded = json.loads(text.stdout)["congestion"]
    except (ValueError, KeyError):
        return None, None
    counts = collections.Counter()
    for pair in recorded["pairs"]:
        for name in list(FIGURES) + ["pauses"]:
            count = pair[name] + (pair["pause_resumes"] if name == "pauses" else 0)
            counts[name, (pair["source"], pair["destination"])] += count
    return +counts, recorded


def compare(tailback, path):
    """Returns what differs, as texts; None when one of both cannot read the file."""
    with tempfile.TemporaryDirectory() as folder:
        ordered = os.path.join(folder, "ordered.pcap")
        if subprocess.run(["reordercap", path, ordered], capture_output=True).returncode:
            return None
        try:
            theirs, handshakes, answers = by_tshark(ordered)
        except subprocess.CalledProcessError:
            return None
        ours, recorded = by_tailback(tailback, ordered)
        if ours is None:
            return None
        differ = []
        for key in sorted(set(ours) | set(theirs), key=str):
            if ours[key] != theirs[key]:
                differ.append("%s of %s > %s: %d, tshark %d"
                              % (key[0], *key[1], ours[key], theirs[key]))
        # Ours leaves out acknowledgements of what was sent twice, so it has fewer round trips
        # where anything was.
        again = sum(n for (name, _), n in theirs.items() if name == "retransmissions")
        n, least = recorded["round_trip"]["n"], recorded["round_trip"]["least_ps"]
        if n > len(answers) or (again == 0 and n != len(answers)):
            differ.append("round trips: %d, tshark %d" % (n, len(answers)))
        elif again == 0 and n and abs(least - 1000 * min(answers)) > 1000:
            differ.append("least round trip: %d ps, tshark %d ns" % (least, min(answers)))
        if again == 0 and recorded["handshake"]["n"] != len(handshakes):
            differ.append("handshakes: %d, tshark %d"
                          % (recorded["handshake"]["n"], len(handshakes)))
        totals = collections.Counter()
        for (name, _), count in theirs.items():
            totals[name] += count
        print("%s: %s" % (os.path.basename(path), "differs" if differ else "equal"),
              dict(totals), flush=True)
        return differ


def main():
    n_differ = n_equal = n_unread = 0
    for path in sys.argv[2:]:
        differ = compare(sys.argv[1], path)
        if differ is None:
            n_unread += 1
            continue
        n_differ += bool(differ)
        n_equal += not differ
        for text in differ[:20]:
            print("  " + text, flush=True)
    print("%d equal, %d differ, %d not read by both" % (n_equal, n_differ, n_unread))
    return min(n_differ, 100)


sys.exit(main())
