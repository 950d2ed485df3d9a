#!/usr/bin/env python3
"""shares.py TAILBACK MEASURED.csv [options]: replays what benchmarks measured (rows.py) and prints how often the model
is right: from 64 MiB and from 1 MiB within a factor of 1.25, below 1 MiB within 2, over all rows and by kind.

  --match REGEX  only rows whose id matches; repeatable, all must match
  --nccl, --mpi  only rows of NCCL, or of all others
  --half N       only rows of half 0 or 1, by a hash of the id: constants are fitted on 0 and tested on 1
  --every N      only each N-th row
  --gb N         replay packet by packet up to N GB of data (4); above, as a fluid
  --timeout S    seconds per replay (100)
  --out FILE     the rows as CSV: id, measured, simulated, ratio"""
import argparse
import csv
import hashlib
import math
import re
import statistics
import sys
import tempfile

import rows as measured

CLASSES = (('from 64 MiB', ('from 64 MiB',), 1.25), ('from 1 MiB', ('from 64 MiB', '1 to 64 MiB'), 1.25),
           ('below 1 MiB', ('below 1 MiB',), 2))


def chosen(options):
    for i, row in enumerate(measured.read(options.table)):
        half = hashlib.md5(row['id'].encode()).digest()[0] % 2
        if all(re.search(m, row['id']) for m in options.match) and options.half in (None, half) \
                and i % options.every == 0 and not (options.nccl and not measured.is_nccl(row)) \
                and not (options.mpi and measured.is_nccl(row)):
            yield row


def print_shares(title, done):
    parts = []
    for name, classes, most in CLASSES:
        ratios = [r for row, _, r in done if measured.size_class(row) in classes]
        if ratios:
            n = measured.within(ratios, most)
            parts.append(f'{name} {n:3d} of {len(ratios):3d} = {100 * n / len(ratios):3.0f} % '
                         f'(median {statistics.median(ratios):.2f})')
    print(f'{title:34s} ' + '; '.join(parts))


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument('tailback')
    parser.add_argument('table')
    parser.add_argument('--match', action='append', default=[])
    parser.add_argument('--nccl', action='store_true')
    parser.add_argument('--mpi', action='store_true')
    parser.add_argument('--half', type=int, choices=(0, 1))
    parser.add_argument('--every', type=int, default=1)
    parser.add_argument('--gb', type=float, default=4)
    parser.add_argument('--timeout', type=float, default=100)
    parser.add_argument('--out')
    options = parser.parse_args()
    done, left_out = [], []
    with tempfile.TemporaryDirectory(prefix='shares.') as folder:
        for row in chosen(options):
            us, factor, why = measured.simulate(options.tailback, row, folder, options.gb, options.timeout)
            if us is None:
                left_out.append((row['id'], why))
                continue
            r = measured.ratio(row, factor, us)
            done.append((row, us, r))
            print(f"{row['id']:60s} {float(row['time_us'] or 0):11.5g} {us:11.5g} us  {r:5.2f}", flush=True)
    for name, why in left_out:
        print(f'{name}: left out: {why}')
    if options.out:
        with open(options.out, 'w', newline='') as f:
            out = csv.writer(f)
            out.writerow(('id', 'measured_us', 'simulated_us', 'ratio'))
            out.writerows((row['id'], row['time_us'], f'{us:.6g}', f'{r:.4f}') for row, us, r in done)
    if not done:
        sys.exit('no row was replayed')
    kinds = {}
    for one in done:
        row = one[0]
        kind = f"{row['cluster']} {row['benchmark']} {row['nodes']}x{row['per_node']}"
        kinds.setdefault(kind, []).append(one)
    print()
    for kind in sorted(kinds):
        print_shares(kind, kinds[kind])
    print_shares('all', done)
    off = statistics.median(abs(math.log(r)) for _, _, r in done)
    print(f'{len(done)} rows, {len(left_out)} left out; median |ln ratio| {off:.2f}')


main()
