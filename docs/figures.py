#!/usr/bin/env python3
"""Makes docs/figures.md: every figure of the papers, its commands, its published points beside the
simulated ones, and statements of the papers, judged by these points.

    tailback validate --model qsnet -f csv -o rows.csv; python3 docs/figures.py rows.csv >docs/figures.md

docs/figures.csv has the figures (a sweep with changes, or commands, joined by ';', with what they show
before a colon) with the rows of schemas/quadrics.csv that they have (patterns of ids), notes on figures,
the statements with their rows, and why rows fail. An error is: a row that fails or ties without a
reason, or that no figure or no statement has, or two statements; a figure or statement without a row.
"""
import csv
import fnmatch
import os
import re
import sys

here = os.path.dirname(os.path.abspath(__file__))
HEAD = """# The papers' figures

*For those who check: made by `docs/figures.py` from `tailback validate --model qsnet -f csv`; do not edit.*

Figures are sweeps in `schemas/sweeps/`, which draw their curves: `tailback sweep FILE -o f.db && tailback sweep plot f.db`; others
have commands of their own. Published points are rows of `schemas/quadrics.csv`, which says how each is measured;
[validation](validation.md) has the rules. Papers are numbered as in [reasons](reasons.md). Three seeds, half of the 95 % interval
behind ± where it shows.
"""
STATEMENTS = """
## Statements

Every row belongs to one of these statements, most of them in the papers' words. A statement is as good as its worst row: it *holds*, is
*near*, or does *not* hold if any row fails or ties.
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


def commands(figure, wrong):
    shown = []
    for item in figure["command"].split("; "):
        label, command = re.match(r"(?:([^:`]{1,40}): )?(.*)", item).groups()
        sweep = command.split()[0]
        if sweep.endswith(".ini") and not os.path.exists(os.path.join(here, "..", "schemas", "sweeps", sweep)):
            wrong.append("no sweep is called " + sweep)
        shown.append(("%s: " % label if label else "") + "`%s`" % command)
    return ", ".join(shown)


def has(patterns, row):
    return any(fnmatch.fnmatchcase(row["id"], p) for p in patterns.split())


def short(rows):
    """The ids of rows, those that only differ in their last part as one."""
    groups = {}
    for row in rows:
        groups.setdefault(row["id"].rpartition(".")[0], []).append(row["id"])
    return ", ".join("`%s`" % (ids[0] if len(ids) == 1 else "%s.{%s}" % (
        stem, ",".join(i.rpartition(".")[2] for i in ids))) for stem, ids in groups.items())


def judge_statements(statements, rows, wrong):
    """Lines of the table, and how many statements hold, are near and do not."""
    lines, sums, taken = [], {"holds": 0, "near": 0, "not": 0}, set()
    for number, statement in enumerate(statements, 1):
        mine = [r for r in rows if r["id"] not in taken and has(statement["command"], r)]
        taken |= {r["id"] for r in mine}
        judged = [r for r in mine if r["verdict"] != "outside"]
        if not judged:
            wrong.append("no row for the statement: " + statement["text"])
        bad = [r for r in judged if r["verdict"] in ("fails", "tie")]
        verdict = "not" if bad else "near" if any(r["verdict"] == "near" for r in judged) else "holds"
        sums[verdict] += 1
        parts = [("**not** ", bad), ("", [r for r in judged if r not in bad]),
            ("outside the model ", [r for r in mine if r not in judged])]
        lines.append("| %d | %s | %s | %s | %s |" % (number, statement["key"], statement["text"],
            "not: %d of %d" % (len(bad), len(judged)) if bad else verdict,
            "; ".join(word + short(these) for word, these in parts if these)))
    wrong += ["no statement has " + r["id"] for r in rows if r["id"] not in taken]
    for row in rows:
        if sum(has(s["command"], row) for s in statements) > 1:
            wrong.append("two statements have " + row["id"])
    return lines, sums


def main():
    table = list(csv.DictReader(open(os.path.join(here, "figures.csv"))))
    rows = list(csv.DictReader(open(sys.argv[1])))
    if any(r["id"] == "sum.unmeasured" and r["simulated"] != "0" for r in rows):
        sys.exit("the validation was stopped: not all rows were measured")
    rows = [r for r in rows if not r["id"].startswith("sum.")]
    of = {kind: [r for r in table if r["kind"] == kind] for kind in ("figure", "note", "statement", "why")}
    listed, wrong, used = set(), [], []
    out = []
    sums = dict.fromkeys(("holds", "near", "tie", "fails", "outside"), 0)
    for figure in of["figure"]:
        out.append("\n## %s\n\n%s\n" % (figure["key"], commands(figure, wrong)))
        out += [note["text"] + "\n" for note in of["note"] if note["key"] == figure["key"]]
        mine = [r for r in rows if r["id"] not in listed and has(figure["text"], r)]
        if not mine:
            wrong.append(figure["key"] + " has no row")
            continue
        out.append("| row | published | simulated | verdict |\n|---|---|--:|---|")
        for row in mine:
            listed.add(row["id"])
            sums[row["verdict"]] += 1
            why = [r["text"] for r in of["why"] if fnmatch.fnmatchcase(row["id"], r["key"])]
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
    figures = {f["key"] for f in of["figure"]}
    wrong += ["no figure is called " + n["key"] for n in of["note"] if n["key"] not in figures]
    judged = sum(sums.values()) - sums["outside"]
    good = sums["holds"] + sums["near"]
    statements, stated = judge_statements(of["statement"], rows, wrong)
    print(HEAD)
    print("Of %d points %d hold, %d are near (together %.0f %%), %d tie and %d fail; %d are outside the model." % (
        judged, sums["holds"], sums["near"], 100 * good / judged, sums["tie"], sums["fails"], sums["outside"]))
    print("Of %d [statements](#statements) of the papers %d hold, %d are near and %d do not." % (
        len(statements), stated["holds"], stated["near"], stated["not"]))
    print("\n".join(out).replace("\n\n\n", "\n\n").rstrip())
    print(STATEMENTS)
    print("| | paper | statement | verdict | rows |\n|--:|---|---|---|---|\n" + "\n".join(statements))
    print("\n## Why rows fail\n")
    for i, why in enumerate(used):
        first = why.split()[0]
        print("%d. %s." % (i + 1, why if "_" in first or "." in first else why[0].upper() + why[1:]))
    for text in wrong:
        print(text, file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
