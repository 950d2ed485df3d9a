#!/usr/bin/env python3
"""Makes docs/figures.md: every figure of the papers, its command, and its published points beside
the simulated ones.

    tailback validate --model qsnet -f csv -o rows.csv; python3 docs/figures.py rows.csv >docs/figures.md

docs/figures.csv lists the figures with the rows of schemas/quadrics.csv that they have (patterns of
ids), and why rows fail. A row that fails or ties without a reason, or that no figure has, is an error.
"""
import csv
import fnmatch
import os
import sys

here = os.path.dirname(os.path.abspath(__file__))
HEAD = """# The papers' figures

*For those who check: made by `docs/figures.py` from `tailback validate --model qsnet -f csv`; do not edit.*

Each figure is a sweep in `schemas/sweeps/`, which draws its curves: `tailback sweep FILE -o f.db && tailback sweep plot f.db`. Its
published points are rows of `schemas/quadrics.csv`, which says how each is measured; [validation](validation.md) has the rules.
Papers are numbered as in [reasons](reasons.md). Three seeds, half of the 95 % interval behind ± where it shows.
"""


def simulated(row):
    """The value, and half of its interval to the same digits where it shows in them."""
    if not row["simulated"]:
        return ""
    value = float(row["simulated"])
    digits = 1 if abs(value) >= 100 else 2 if abs(value) >= 10 else 3
    half = "%.*f" % (digits, float(row["half_ci"] or 0))
    return "%.*f" % (digits, value) + (" ± " + half if float(half) > 0 else "")


def published(row):
    unit = "" if row["unit"] == "1" else " " + row["unit"]
    relation = row["relation"].lstrip("'=")
    words = " ".join(word for word in (relation, row["value"]) if word)
    bound = " (%s%s)" % (row["bound"], unit) if row["bound"] else ""
    return words + (unit if row["value"] or ".." in words else "") + bound


def main():
    table = list(csv.DictReader(open(os.path.join(here, "figures.csv"))))
    rows = [r for r in csv.DictReader(open(sys.argv[1])) if not r["id"].startswith("sum.")]
    reasons = [(r["key"], r["text"]) for r in table if r["kind"] == "why"]
    listed, wrong, used = set(), [], []
    out = []
    sums = dict.fromkeys(("holds", "near", "tie", "fails", "outside"), 0)
    for figure in (r for r in table if r["kind"] == "figure"):
        command = figure["command"]
        if command.endswith(".ini"):
            for name in command.split():
                if not os.path.exists(os.path.join(here, "..", "schemas", "sweeps", name)):
                    wrong.append("no sweep is called " + name)
        out.append("\n## %s\n\n%s\n" % (figure["key"], ", ".join("`%s`" % c for c in (
            command.split() if command.endswith(".ini") else [command]))))
        mine = [r for r in rows if r["id"] not in listed and any(
            fnmatch.fnmatchcase(r["id"], p) for p in figure["text"].split())]
        if not mine:
            out.append("Its curves have no published point.\n")
            continue
        out.append("| row | published | simulated | verdict |\n|---|---|--:|---|")
        for row in mine:
            listed.add(row["id"])
            sums[row["verdict"]] += 1
            why = [text for key, text in reasons if fnmatch.fnmatchcase(row["id"], key)]
            if row["verdict"] in ("fails", "tie") and not why:
                wrong.append("%s %s without a reason" % (row["id"], row["verdict"]))
            mark = ""
            if row["verdict"] in ("fails", "tie") and why:
                if why[0] not in used:
                    used.append(why[0])
                mark = " [%d]" % (used.index(why[0]) + 1)
            verdict = row["measured"][len("outside the model: "):] if row["verdict"] == "outside" else ""
            out.append("| `%s` | %s | %s | %s%s%s |" % (row["id"], published(row), simulated(row),
                row["verdict"], ": " + verdict if verdict else "", mark))
        out.append("")
    wrong += ["no figure has " + r["id"] for r in rows if r["id"] not in listed]
    judged = sum(sums.values()) - sums["outside"]
    good = sums["holds"] + sums["near"]
    print(HEAD)
    print("Of %d points %d hold, %d are near (together %.0f %%), %d tie and %d fail; %d are outside the model." % (
        judged, sums["holds"], sums["near"], 100 * good / judged, sums["tie"], sums["fails"], sums["outside"]))
    print("\n".join(out).replace("\n\n\n", "\n\n").rstrip())
    print("\n## Why rows fail\n")
    for i, why in enumerate(used):
        first = why.split()[0]
        print("%d. %s." % (i + 1, why if "_" in first else why[0].upper() + why[1:]))
    for text in wrong:
        print(text, file=sys.stderr)
    return 1 if wrong else 0


sys.exit(main())
