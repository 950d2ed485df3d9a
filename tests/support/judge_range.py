#!/usr/bin/env python3
"""Judges the ranges that closed loops answer with, against measured run times:

    tests/support/judge_range.py build/release/tailback ../shared [PATTERN] [--also | --traces]

PATTERN (a regular expression) chooses pairs by "program_captured_replayed_", as in ring8_10_100_.
With --also each capture is narrowed by each other one of its program at a higher rate; with --traces whatif2's
traces of single jobs are judged instead, replayed with --recorded-on.
--rows FILE keeps the times of each pair as CSV, --from FILE judges these without replaying.
Prints, for each capture and each rate that was measured: the measured time (median of the runs that
were not captured), the error of the best estimate, the range, and whether it contains the measured
time, in percent of that. Of pairs that miss, those are listed apart that the program's own calls miss
on the same side by more than the range allows the network model (MODEL): whatif2's traces, and
whatif's logs, which mpilog_goal beside the program's tests turns into jobs. Then how many hold and
their median width, to lower and to higher rates, beside plain arithmetic: between the captured run
time and that times the ratio of the rates. Exits with 1 unless 95 of 100 pairs are contained, half of
the ranges are narrower than 30 % to lower and 50 % to higher rates, and all narrower than 20 % hold."""
import csv
import json
import math
import os
import re
import statistics
import struct
import subprocess
import sys
import tempfile

WHATIF = ("a2a8", "halo8", "lammps8", "ring8")  # programs of the first set
NARROW, WANTED = 20, 0.95
MEDIAN_LOWER, MEDIAN_HIGHER = 30, 50
MODEL = 6  # percent, as in rule L16 of docs/closed-loop.md


def captures(data):
    """Yields program, rate, file, from, to; and fills the measured times in."""
    measured, found = {}, []
    for name, program, rate in (("whatif/times.csv", "program", "rate_mbit"), ("whatif2/runs.csv", "prog", "rate")):
        for row in csv.DictReader(open(f"{data}/{name}")):
            key = row[program], int(row[rate])
            if row["captured"] == "1":
                file = row.get("file") or f"{key[0]}_{key[1]}m.pcap.zst"
                found.append((*key, f"{data}/{os.path.dirname(name)}/{file}", int(row["start_ns"]), int(row["end_ns"])))
            elif row.get("dropped", "0") == "0" and row.get("traced", "0") == "0":
                measured.setdefault(key, []).append(float(row["seconds"]))
    return found, {key: statistics.median(times) for key, times in measured.items()}


def network(data, program, rate):
    name = f"{data}/whatif2/src/meet8.edges,preset=ethernet-shaped" if program == "meet8" else "ethernet-shaped"
    return f"{name},rate={rate}Mbit/s"


def replay(tailback, arguments):
    with tempfile.TemporaryDirectory() as scratch:
        store = f"{scratch}/run.db"
        subprocess.run([tailback, "replay", "-q", "--no-blame", "-o", store, *arguments], check=True)
        run = json.loads(subprocess.run([tailback, "info", store, "--json"], check=True, capture_output=True).stdout)
    return [(run[key] or 0) / 1e12 for key in ("run_time_least_ps", "simulated_ps", "run_time_most_ps")]


def seconds(ns):
    return f"{ns // 10**9}.{ns % 10**9:09d}"


def logged(tailback, data, program, scratch):
    """Yields the options that replay what whatif's ranks logged, and how long before the timed part they begin."""
    goal = f"{os.path.dirname(tailback)}/tests/mpilog_goal"
    for row in csv.DictReader(open(f"{data}/whatif/times.csv")):
        name = f"{row['program']}_{row['rate_mbit']}m"
        logs = f"{data}/whatif/mpilog/{name}.tar.zst"
        if row["program"] != program or row["captured"] != "1" or not os.path.exists(logs) or not os.path.exists(goal):
            continue
        folder = f"{scratch}/{name}"
        os.mkdir(folder)
        subprocess.run(f"zstd -qdc '{logs}' | tar xf - -C '{folder}'", shell=True, check=True)
        entered = []
        for rank in os.listdir(folder):
            calls = [line.split() for line in open(f"{folder}/{rank}", errors="replace") if " Barrier" in line]
            entered += [max((int(c[0]) for c in calls if c[2] == "Barrier" and int(c[0]) <= int(row["start_ns"])), default=0)]
        job = [goal, "--cpu", "--lenient", "--from", str(max(entered) + 1), "--to", row["end_ns"], folder, f"{folder}.goal"]
        if subprocess.run(job, capture_output=True).returncode == 0:
            yield [f"{folder}.goal"], (int(row["start_ns"]) - max(entered)) / 1e9


def traced(data, program):
    """The same of whatif2's traces."""
    for row in csv.DictReader(open(f"{data}/whatif2/runs.csv")):
        if row["prog"] != program or row["traced"] != "1":
            continue
        files = [f"{data}/whatif2/{file}" for file in row["file"].split()]
        begins = [struct.unpack_from("<Q", open(file, "rb").read(64), 16)[0] for file in files]
        options = files
        if len(files) > 1:
            options = [word for file, begin, nodes in zip(files, begins, ("n[0,1,4,5]", "n[2,3,6,7]"))
                       for word in ("--job", f"{file},start={begin - min(begins)}ns,nodes={nodes}")]
        yield options, (int(row["start_ns"]) - min(begins)) / 1e9


def exact(tailback, data, program, rate, measured):
    """The errors, in percent, of replays of what the program called."""
    with tempfile.TemporaryDirectory() as scratch:
        jobs = list(traced(data, program)) + list(logged(tailback, data, program, scratch))
        errors = []
        for job, lead in jobs:
            try:
                took = replay(tailback, [*job, "-n", network(data, program, rate)])[1]
                errors.append(100 * ((took - lead) / measured - 1))
            except subprocess.CalledProcessError:
                pass  # logs that are cut within an exchange are no job
        return errors


def cases(found, measured, pattern, also):
    """Yields each capture, or two of them, at each rate that was measured."""
    for first in found:
        seconds_at = [(rate, took) for (of, rate), took in sorted(measured.items()) if of == first[0]]
        for rate, took in seconds_at:
            if re.search(pattern, f"{first[0]}_{first[1]}_{rate}_"):
                for second in ([o for o in found if o[0] == first[0] and o[1] > first[1]] if also else [None]):
                    yield first, second, rate, took


def list_missed(tailback, data, missed):
    apart = {}
    for program, rate, took, above in missed:
        errors = apart.setdefault((program, rate), exact(tailback, data, program, rate, took))
        middle = statistics.median(errors) if errors else 0
        is_model = abs(middle) > MODEL and (middle > 0) == above
        print(f"missed: {program:8} at {rate:3}, range {'above' if above else 'below'}; by the program's calls "
              f"{', '.join(f'{e:+.1f}' for e in errors) or 'unknown'}{': MODEL' if is_model else ''}")


def pairs(tailback, data, pattern, also):
    """Yields the row of each pair: times in seconds."""
    found, measured = captures(data)
    for (program, captured, file, begin, end), second, rate, took in cases(found, measured, pattern, also):
        options = [file, "--closed-loop", "--from", seconds(begin), "--to", seconds(end)]
        if second:
            options += ["--also", f"{second[2]},from={seconds(second[3])},to={seconds(second[4])}"]
        least, likely, most = replay(tailback, [*options, "-n", network(data, program, rate)])
        yield {"program": program, "captured": captured, "also": second[1] if second else 0, "rate": rate,
               "measured": took, "captured_s": (end - begin) / 1e9, "least": least, "likely": likely, "most": most}


def traced_pairs(tailback, data, pattern):
    """The same of traces. They begin before the span that was measured: that is taken off."""
    _, measured = captures(data)
    for row in csv.DictReader(open(f"{data}/whatif2/runs.csv")):
        if row["traced"] != "1" or " " in row["file"]:
            continue
        recorded = int(row["rate"])
        for options, lead in traced(data, row["prog"]):
            if not options[0].endswith(f"_{recorded}m.tbt"):
                continue
            for (program, rate), took in sorted(measured.items()):
                if program != row["prog"] or not re.search(pattern, f"{program}_{recorded}_{rate}_"):
                    continue
                times = replay(tailback, [*options, "-n", network(data, program, rate),
                                          "--recorded-on", network(data, program, recorded)])
                least, likely, most = (at - lead for at in times)
                yield {"program": program, "captured": recorded, "also": 0, "rate": rate, "measured": took,
                       "captured_s": float(row["seconds"]), "least": least, "likely": likely, "most": most}


def summary(name, rows):
    """Prints how many of the rows (measured, least, most) hold, and how wide they are in percent."""
    if not rows:
        return True, 0
    widths = [100 * (most - least) / took for took, least, most in rows]
    holds = [least <= took <= most for took, least, most in rows]
    narrow = [held for held, width in zip(holds, widths) if width < NARROW]
    print(f"{name}: contained {sum(holds)} of {len(rows)}; median width {statistics.median(widths):.1f} %; "
          f"narrower than {NARROW} %: {len(narrow)}, of them contained {sum(narrow)}")
    return sum(holds) >= WANTED * len(rows) and all(narrow), statistics.median(widths)


def summaries(rows):
    def ours(some):
        return [(r["measured"], r["least"], r["most"]) for r in some]

    def arithmetic(some):
        return [(r["measured"], *sorted((r["captured_s"], r["captured_s"] * r["captured"] / r["rate"]))) for r in some]
    groups = [(name, [r for r in rows if keeps(r["rate"] - r["captured"])]) for name, keeps in
              (("to lower rates", lambda d: d < 0), ("at the captured rate", lambda d: d == 0),
               ("to higher rates", lambda d: d > 0))]
    fine, _ = summary("all", ours(rows))
    for name, keeps in (("whatif", lambda p: p in WHATIF), ("whatif2", lambda p: p not in WHATIF)):
        for way, goes in (("lower", lambda r: r["rate"] < r["captured"]), ("higher", lambda r: r["rate"] > r["captured"])):
            summary(f"{name}, to {way} rates", ours([r for r in rows if keeps(r["program"]) and goes(r)]))
    for (name, some), wanted in zip(groups, (MEDIAN_LOWER, math.inf, MEDIAN_HIGHER)):
        _, width = summary(name, ours(some))
        fine &= width < wanted
    for name, some in groups[::2]:
        summary(f"arithmetic, {name}", arithmetic(some))
    clamped = sum(not r["least"] <= r["likely"] <= r["most"] for r in rows)
    print(f"simulated time outside its own range: {clamped}")
    return fine


def judge(tailback, data, pattern, options):
    rows, missed = [], []
    if options.get("--from"):
        with open(options["--from"], newline="") as file:
            given = [{key: value if key == "program" else float(value) for key, value in row.items()}
                     for row in csv.DictReader(file)]
    else:
        given = traced_pairs(tailback, data, pattern) if "--traces" in options else \
            pairs(tailback, data, pattern, "--also" in options)
    for row in given:
        rows.append(row)
        took, second = row["measured"], f" {row['also']:3g}" if row["also"] else ""
        errors = [100 * (row[key] / took - 1) for key in ("least", "likely", "most")]
        holds = errors[0] <= 0 <= errors[2]
        if not holds:
            missed.append((row["program"], row["rate"], took, errors[0] > 0))
        print(f"{row['program']:8} {row['captured']:3g}{second} at {row['rate']:3g} {took:8.3f} s {errors[1]:+7.1f} "
              f"[{errors[0]:+7.1f} {errors[2]:+8.1f}]{'' if holds else ' missed'}", flush=True)
    if options.get("--rows"):
        with open(options["--rows"], "w", newline="") as file:
            writer = csv.DictWriter(file, rows[0])
            writer.writeheader()
            writer.writerows(rows)
    if not options.get("--from") and "--traces" not in options:
        list_missed(tailback, data, missed)
    return summaries(rows)


def main(words):
    options = {word: None for word in words if word in ("--also", "--traces")}
    words = [word for word in words if word not in options]
    for name in ("--rows", "--from"):
        if name in words:
            at = words.index(name)
            options[name] = words[at + 1]
            del words[at:at + 2]
    sys.exit(0 if judge(words[0], words[1] + "/data", words[2] if len(words) > 2 else ".", options) else 1)


if __name__ == "__main__":
    main(sys.argv[1:])
