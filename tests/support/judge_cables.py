"""Is what a report says of a slow cable what mending it gains?

Replays jobs on fat trees with a slow cable, as they are and mended, and holds the gain
against the range of the finding `slow-cable`: how many lie in it, to 1 % of the run, and
how many times its lower end the upper one is. Prints those outside, then the counts.

    judge_cables.py TAILBACK FOLDER
"""
import json
import sqlite3
import subprocess
import sys

TAILBACK, FOLDER = sys.argv[1:3]
PAYS = 0.02  # of the run: less is said as "at most"
JOBS = {
    "alltoall": "alltoall --size 64K -n",
    "ring": "allreduce --algorithm ring --size 4M -n",
    "tree": "broadcast --size 2M -n",
    "stencil": "stencil --message 64K --messages 6 --nodes",
    "pairs": "complement --message 256K --messages 8 --nodes",
    "reversal": "bit-reversal --message 256K --messages 8 --nodes",
    "incast": "hot-spot --message 256K --messages 2 --hot 5 --nodes",
    "steps": "alltoall --size 16K --repeat 3 --compute 30us -n",
}
NETWORKS = ["ib-ndr,ascent=deterministic", "ib-ndr,ascent=adaptive", "roce-400,ascent=ecmp",
            "roce-400,ascent=adaptive", "ethernet,ascent=ecmp"]


def two_levels(hosts, spines, cables):
    """Four leaves: the cables by name."""
    for leaf in range(4):
        for host in range(hosts):
            yield f"leaf{leaf} {host} n{leaf * hosts + host} 0"
        for up in range(spines * cables):
            yield f"leaf{leaf} {hosts + up} spine{up // cables} {leaf * cables + up % cables}"


def three_levels():
    """A 4-ary fat tree of 16 hosts."""
    for pod in range(4):
        for i in range(2):
            for j in range(2):
                yield f"leaf{pod}{i} {j} n{4 * pod + 2 * i + j} 0"
                yield f"leaf{pod}{i} {2 + j} agg{pod}{j} {i}"
                yield f"agg{pod}{i} {2 + j} core{2 * i + j} {pod}"


# Of each tree: nodes, cables, and slow ones with what is left of their rate.
TREES = {
    "full": (16, list(two_levels(4, 2, 2)), [("leaf2 4 ", 4), ("leaf1 2 ", 4)]),
    "taper": (32, list(two_levels(8, 4, 1)), [("leaf1 10 ", 2)]),
    "three": (16, list(three_levels()), [("leaf10 3 ", 4), ("agg11 2 ", 4)]),
}


def run(*arguments):
    return subprocess.run([TAILBACK, *arguments], check=True, capture_output=True, text=True).stdout


def replay(job, network, store):
    run("replay", job, "-n", network, "-q", "-o", store)
    with sqlite3.connect(store) as db:
        return db.execute("SELECT simulated_ps FROM run").fetchone()[0]


n = held = tcp = 0
widths = []
for tree, (nodes, cables, slow) in TREES.items():
    with open(f"{FOLDER}/{tree}.edges", "w") as file:
        file.writelines(f"{cable} 100Gbit/s\n" for cable in cables)
    for number, (which, part) in enumerate(slow):
        with open(f"{FOLDER}/{tree}{number}.edges", "w") as file:
            file.writelines(f"{cable} {100 // part if cable.startswith(which) else 100}Gbit/s\n"
                            for cable in cables)
    for job, words in JOBS.items():
        goal = f"{FOLDER}/{job}{nodes}.goal"
        if job == "reversal" and tree == "taper":
            continue  # its messages stay on their leaves
        run("synth", *words.split(), str(nodes), "-o", goal)
        for network in NETWORKS:
            store = f"{FOLDER}/{job}-{tree}-{network}.db"
            mended_ps = replay(goal, f"{FOLDER}/{tree}.edges,preset={network}", store)
            for number, (which, _) in enumerate(slow):
                store = f"{FOLDER}/{job}-{tree}{number}-{network}.db"
                run_ps = replay(goal, f"{FOLDER}/{tree}{number}.edges,preset={network}", store)
                gain = (run_ps - mended_ps) / run_ps
                findings = json.loads(run("report", store, "-f", "json"))["findings"]
                said = [each["figures"] for each in findings if each["rule"] == "slow-cable"]
                low = said[0]["cost_ps"] / run_ps if said else 0
                high = said[0]["cost_most_ps"] / run_ps if said else PAYS
                fine = (low < PAYS or gain > low - 0.01) and gain < high + 0.01
                n += 1
                held += fine
                if not fine:
                    print(f"{job} on {tree}, {which}, {network}: gains {100 * gain:.1f} %, "
                          f"said {100 * low:.1f} to {100 * high:.1f} %")
                if high < PAYS or not said:
                    continue
                if network.startswith("ethernet"):
                    tcp += 1
                else:
                    widths.append(high / low if low >= PAYS else float("inf"))
widths.sort()
print(f"runs {n} held {held} with TCP {tcp} others {len(widths)} "
      f"median {widths[len(widths) // 2]:.2f}")
