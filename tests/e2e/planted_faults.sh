# One fault planted in a fabric is named, first and alone but for what follows from it, whatever the format; without one nothing is.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
cat >plant.py <<'END'
import json, subprocess, sys

def tree():
    "Six leaves of eight hosts, four spines, two cables from each leaf to each."
    cables = []
    for leaf in range(1, 7):
        for port in range(1, 17):
            spine, host = (port - 7) // 2, f"node{8 * (leaf - 1) + port:03}"
            to = [host, 1] if port <= 8 else [f"spine{spine}", 2 * leaf - port % 2]
            cables.append([f"leaf{leaf}", port] + to + [400])
    return cables

def pods():
    "Four pods of four leaves and four aggs, and sixteen cores."
    cables = []
    for pod in range(4):
        for i in range(4):
            for k in range(4):
                cables.append([f"p{pod}leaf{i}", k + 1, f"node{16 * pod + 4 * i + k + 1:03}", 1, 100])
                cables.append([f"p{pod}leaf{i}", k + 5, f"p{pod}agg{k}", i + 1, 100])
                cables.append([f"p{pod}agg{i}", k + 5, f"core{4 * i + k}", pod + 1, 100])
    return cables

def without(name):
    return lambda cables: [at for at in cables if name not in at]

def cable(cables, device, port):
    return next(at for at in cables if at[:2] == [device, port])

def put(at_device, at_port, **new):
    def edit(cables):
        at = cable(cables, at_device, at_port)
        for key, value in new.items():
            at["device port peer peer_port rate".split().index(key)] = value
        return cables
    return edit

def swap(one, other):
    def edit(cables):
        a, b = cable(cables, *one), cable(cables, *other)
        a[2:4], b[2:4] = b[2:4], a[2:4]
        return cables
    return edit

def slow_spine(cables):
    return [at[:4] + [200] if "spine3" in at else at for at in cables]

crossed = ["leaf2 has 1 of 2 cables to spine2 and 3 to spine3", "leaf3 has 1 of 2 cables to spine3 and 3 to spine2"]
cases = [
    (tree, lambda cables: cables, []),
    (pods, lambda cables: cables, []),
    (tree, put("leaf3", 4, rate=100), ["node020 > leaf3 runs at 100 Gbit/s, its peers at 400 Gbit/s"]),
    (tree, put("leaf3", 11, rate=100), ["leaf3:11 > spine2:5 runs at 100 Gbit/s, its peers at 400 Gbit/s"]),
    (tree, slow_spine, ["12 cables are slower than usual: 12 cables at 200 Gbit/s, all of them on spine3, their peers at 400 Gbit/s"]),
    (tree, swap(("leaf2", 11), ("leaf3", 13)), crossed),
    (tree, swap(("leaf2", 4), ("leaf5", 4)), ["node012 on leaf5 and node036 on leaf2 are likely swapped"]),
    (tree, put("leaf2", 4, device="leaf5", port=30), ["node012 is on leaf5, but node011 and node013 are on leaf2"]),
    (tree, lambda cables: cables + [["leaf2", 30, "node012", 2, 400]], ["node012 has 2 cables, its peers 1"]),
    (tree, lambda cables: [at for at in cables if at[:2] != ["leaf3", 11]], ["1 cable is missing: leaf3 has 7 of 8 cables up: 1 of 2 to spine2"]),
    (tree, lambda cables: [at for at in cables if at[0] != "leaf4" or at[1] > 8], ["leaf4, a leaf, has no hosts"]),
    (tree, without("leaf4"), ["A switch may be dead: by name 1 switch is missing between leaf3 and leaf5, and switches above have 2 ports free"]),
    (tree, without("spine1"), ["A switch may be dead: by name 1 switch is missing before spine2, and switches below have 2 ports free before"]),
    (tree, without("spine2"), ["A switch may be dead: by name 1 switch is missing between spine1 and spine3, and switches below have 2 ports free"]),
    (tree, without("spine4"), ["Either level 0 is tapered by design, or spine4 is gone: with it, cabled as spine3,"]),
    (pods, without("p2agg1"), ["A switch may be dead: by name 1 switch is missing between p2agg0 and p2agg2, and switches below"]),
    (pods, without("p2agg3"), ["A switch may be dead: by name 1 switch is missing between p1agg3 and p3agg3, and switches above"]),
    (pods, without("core5"), ["A switch may be dead: by name 1 switch is missing between core4 and core6,"]),
    (pods, without("core15"), ["Either some cables up from level 1 are missing, or core15 is gone: with it, cabled as core14,"]),
    (pods, swap(("p1agg1", 6), ("p1agg2", 6)), ["p1agg1 has 0 of 1 cables to core5 and 1 to core9", "p1agg2 has 0 of 1 cables to core9 and 1 to core5"]),
    (pods, put("p1leaf0", 4, device="p3leaf2", port=20), ["node020 is on p3leaf2, but node019 is on p1leaf0, which has fewer hosts than others"]),
]
failed = 0

def report(file):
    return json.loads(subprocess.run([sys.argv[1], "network", "-n", file, "-f", "json", "--shifts", "1", "--bisections", "1"],
        check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout)

for make, edit, said in cases:
    cables = edit(make())
    with open("f.edges", "w") as out:
        out.writelines("%s %s %s %s %sGbit/s\n" % tuple(at) for at in cables)
    with open("f.csv", "w") as out:
        out.write("Switch,Port,Neighbor,Neighbor Port,Speed Gbps\n")
        out.writelines("%s,%s,%s,%s,%s\n" % tuple(at) for at in cables)
    with open("f.ib", "w") as out:
        subprocess.run([sys.argv[1], "network", "-n", "f.edges", "-f", "ibnetdiscover"], check=True, stdout=out, stderr=subprocess.DEVNULL)
    for file in ("f.edges", "f.csv", "f.ib"):
        found = report(file)
        verdict = ". ".join(found["verdict"][1:])
        first = " ".join(found["verdict"][1:2])
        is_said = all(text in first for text in said) if said else not found["not_alike"]
        if not is_said:
            print(f"{file}: {said}, but {verdict}")
            failed = 1
sys.exit(failed)
END
python3 plant.py "$TAILBACK"
