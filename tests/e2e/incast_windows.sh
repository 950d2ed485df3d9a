# An incast's window and senders are those of the queue. N nodes send to one at a known time, at which three others, which send
# to it now and then, are silent: the window is as long as the link takes for what they sent, within a tenth or a bin, and the
# senders are these N alone. The queue of two bursts is empty between them.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
cat >check.py <<'END'
import json, os, random, subprocess, sys

TAILBACK = os.environ["TAILBACK"]
# Bytes per second, and bytes on the wire per byte of payload.
NETWORKS = {"ethernet": (125e6, 1538 / 1460), "roce-100": (12.5e9, 1.02), "ib-hdr": (25e9, 1.007)}


def try_one(seed, network, senders, burst_s, run_s, others, bursts=1, pieces=1):
    rate, wire = NETWORKS[network]
    numbers = random.Random(seed)
    size = int(burst_s * rate / wire / senders / pieces)
    first = int(run_s * 1e12 * numbers.uniform(0.2, 0.6))
    pause = int(max(run_s / 40, 5 * burst_s) * 1e12)
    last = first + (bursts - 1) * pause
    flows = [(s, 0, size, first + b * pause) for s in range(1, senders + 1) for b in range(bursts) for _ in range(pieces)]
    for i in range(others):
        at = int((i + numbers.uniform(0, 0.5)) * run_s / others * 1e12)
        if not first - pause // 4 <= at <= last + pause:
            flows.append((senders + 1 + i % 3, 0, min(20000, size // 10 + 100), at))
            flows.append((senders + 4 + i % 2, senders + 6, min(20000, size // 10 + 100), at))
    flows.sort(key=lambda flow: flow[3])
    with open("burst.cm", "w") as out:
        print("Nodes", senders + 8, "\nConnections", len(flows), file=out)
        for i, (a, b, n, at) in enumerate(flows):
            print(f"{a}->{b} id {i + 1} start {at} size {n}", file=out)
    if os.path.exists("burst.db"):
        os.remove("burst.db")
    shape = f"{network},levels=1,arity={senders + 8}"
    subprocess.check_call([TAILBACK, "replay", "-q", "burst.cm", "-n", shape, "-o", "burst.db"])
    report = json.loads(subprocess.check_output([TAILBACK, "report", "burst.db", "-f", "json"]))
    bin_ps = int(subprocess.check_output(["sqlite3", "burst.db", "SELECT bin_ps FROM run"]))
    found = [f for f in report["findings"] if f["rule"] == "incast"]
    assert len(found) == 1, found
    figures = found[0]["figures"]
    most = max(bin_ps, burst_s * 1e11)
    print(seed, network, len(flows), figures, found[0]["sentence"])
    assert figures["node"] == 0 and figures["senders"] == senders, "senders"
    assert figures["times"] == bursts, "times"
    assert abs(figures["begin_ps"] - first) <= most, "begin"
    assert abs(figures["end_ps"] - last - burst_s * 1e12) <= most, "end"
    # As fine as the messages tell, where the bins are coarse.
    assert bursts > 1 or abs(figures["end_ps"] - figures["begin_ps"] - burst_s * 1e12) <= max(burst_s * 1e11, 2e6), "length"


for network in NETWORKS:
    try_one(1, network, 8, 1.65e-3, 4, 200)
    try_one(2, network, 8, 1.65e-3, 4, 200, bursts=2)
    try_one(3, network, 5, 20e-3, 0.5, 400, pieces=5)
    try_one(4, network, 12, 1e-3, 2, 8500)
END
python3 check.py >out || {
    cat out
    exit 1
}
