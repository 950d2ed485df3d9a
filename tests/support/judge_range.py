#!/usr/bin/env python3
"""Judges the ranges that closed loops answer with, against measured run times:

    tests/support/judge_range.py build/release/tailback ../shared [PATTERN]

PATTERN (a regular expression) chooses pairs by "program_captured_replayed_", as in ring8_10_100_.
Prints, for each capture and each rate that was measured: the measured time (median of the runs that
were not captured), the error of the best estimate, the range, and whether it contains the measured
time, in percent of that. Exits with 1 if fewer than 95 of 100 pairs are contained, or if the middle
of a range narrower than 20 % is further than 10 % from the measured time."""
import csv
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile

WIDE, OFF, WANTED = 20, 10, 0.95


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
    return [run[key] / 1e12 for key in ("run_time_least_ps", "simulated_ps", "run_time_most_ps")]


def judge(tailback, data, pattern):
    found, measured = captures(data)
    n = contained = narrow = near = 0
    for program, captured, file, begin, end in found:
        for (of, rate), seconds in sorted(measured.items()):
            if of != program or not re.search(pattern, f"{program}_{captured}_{rate}_"):
                continue
            span = [f"{at // 10**9}.{at % 10**9:09d}" for at in (begin, end)]
            errors = [100 * (at / seconds - 1) for at in replay(tailback, [
                file, "--closed-loop", "--from", span[0], "--to", span[1], "-n", network(data, program, rate)])]
            width, middle = errors[2] - errors[0], (errors[0] + errors[2]) / 2
            holds = errors[0] <= 0 <= errors[2]
            n, contained, narrow = n + 1, contained + holds, narrow + (width < WIDE)
            near += width < WIDE and abs(middle) <= OFF
            print(f"{program:8} {captured:3} at {rate:3} {seconds:8.3f} s {errors[1]:+7.1f} "
                  f"[{errors[0]:+7.1f} {errors[2]:+8.1f}]{'' if holds else ' missed'}", flush=True)
    print(f"contained: {contained} of {n}; narrower than {WIDE} %: {narrow}, of them middle within {OFF} %: {near}")
    return contained >= WANTED * n and near == narrow


if __name__ == "__main__":
    sys.exit(0 if judge(sys.argv[1], sys.argv[2] + "/data", sys.argv[3] if len(sys.argv) > 3 else ".") else 1)
