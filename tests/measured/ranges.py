#!/usr/bin/env python3
"""ranges.py TAILBACK MEASURED.csv... [-o schemas/expected.csv]: how right `tailback expect` was for each class of rows.

Each group of measured rows (one benchmark on one set-up of a cluster) is written as the table that its tool prints, and
judged by `tailback expect` in the network of rows.py. Of the ratios, measured speed over expected speed, each class (kind
of operation, size, library, one host or several) gets the 5 % and 95 % quantiles. Rows of one cluster are alike: a class
of few clusters says little of others. So each cluster is left out in turn, and the ranges of the others are widened by
one factor until 90 % of the rows left out are within theirs; ranges of fewer clusters are widened more (the factor to the
power of 2 / clusters, at least 1). A class of fewer than 6 rows has those of other operations of its size, library
and hosts, too: of messages, or of collective operations.

  --match REGEX  only rows whose id matches; repeatable, all must match
  --keep DIR     keep the tables there
  --ratios FILE  write each row's class, cluster and ratio; with --from FILE... these are read, and nothing is replayed
  --jobs N       replays at once (1)"""
import argparse
import collections
import csv
import json
import math
import os
import re
import subprocess
import sys
import tempfile

import rows as measured

FEW = 6    # rows of a class
LEAST = 3  # rows of a range
MESSAGES = ('latency', 'stream', 'both-ways', 'neighbors', 'exchange')
FACTORS = [1 + i / 20 for i in range(0, 61)]  # of which the least is taken with which 90 % left out are within
SETUPS = {  # of tests/data/measured, whose README has the sources
    'shA-ib': 'ib-edr', 'shA-roce': 'roce-100,rate=25Gbit/s', 'shC-ib': 'ib-hdr,rate=100Gbit/s',
    'shC-roce': 'roce-100,rate=50Gbit/s', 'oci-b4': 'roce-100,rails=16', 'oci-mi300x': 'roce-400,rails=8'}
KINDS = {'all_reduce_perf': 'allreduce', 'alltoall_perf': 'alltoall', 'all_gather_perf': 'allgather',
         'reduce_scatter_perf': 'reduce-scatter', 'broadcast_perf': 'broadcast', 'sendrecv_perf': 'sendrecv',
         'reduce_perf': 'reduce'}
OSU = {'osu_allreduce': 'Allreduce', 'osu_bcast': 'Broadcast', 'osu_latency': 'Latency', 'osu_multi_lat': 'Multi Latency',
       'osu_mbw_mr': 'Multiple Bandwidth / Message Rate', 'osu_bw': 'Bandwidth', 'osu_bibw': 'Bi-Directional Bandwidth'}
PICO_OSU = {'allreduce': 'Allreduce', 'bcast': 'Broadcast', 'reduce': 'Reduce', 'reduce_scatter': 'Reduce_scatter',
            'alltoall': 'All-to-All Personalized Exchange', 'allgather': 'Allgather', 'gather': 'Gather',
            'scatter': 'Scatter'}
OSU.update({'osu_allgather': 'Allgather', 'osu_alltoall': 'All-to-All Personalized Exchange'})
BLOCKS = ('alltoall', 'allgather', 'gather', 'scatter')  # of which OSU prints a block, and PICO the whole


def nccl_table(group, operation):
    """What nccl-tests print, of one size a line."""
    nodes, each = int(group[0]['nodes']), int(group[0]['per_node'])
    n = nodes * each
    share = {'allreduce': 2 * (n - 1) / n, 'broadcast': 1, 'reduce': 1, 'sendrecv': 1}.get(operation, (n - 1) / n)
    name = next(k for k, v in KINDS.items() if v == operation)
    combines = 'sum' if 'reduce' in operation or operation == 'sendrecv' else 'none'
    root = 0 if operation in ('broadcast', 'reduce') else -1
    lines = [f'# {name}', '# nThread 1 nGpus 1 minBytes 8 maxBytes 8 step: 2(factor) warmup iters: 5 iters: 20 '
             'agg iters: 1 validation: 1 graph: 0', '#', '# Using devices']
    lines += [f'#  Rank {r:2d} Group  0 Pid {1000 + r:6d} on host{r // each:04d} device {r % each:2d} [0x1b] GPU'
              for r in range(n)]
    lines += ['#', '#                                                              out-of-place                       '
              'in-place', '#       size         count      type   redop    root     time   algbw   busbw #wrong     time   '
              'algbw   busbw #wrong', '#        (B)    (elements)                               (us)  (GB/s)  (GB/s)'
              '            (us)  (GB/s)  (GB/s)']
    for row in group:
        size, us = int(row['bytes']), float(row['time_us'])
        rate = size / us / 1e3
        figures = f'{us:12.2f} {rate:8.2f} {rate * share:8.2f}'
        checked = 'N/A' if operation in ('alltoall', 'sendrecv') else '0'
        lines.append(f'{size:12d} {size:13d}      int8 {combines:>7s} {root:7d} {figures}      0 {figures} {checked:>6s}')
    version = re.match(r'NCCL (2[.]\d+[.]\d+)', group[0]['library'])
    if version:
        lines.insert(0, f'NCCL version {version[1]}+cuda12.0')
    elif group[0]['library'].startswith('RCCL'):
        lines.insert(0, 'RCCL version : 2.21.5')
    return name, lines + ['# Out of bounds values : 0 OK', '# Avg bus bandwidth    : 0', '#']


def osu_table(group, title, block):
    """What the OSU micro-benchmarks print."""
    n = int(group[0]['nodes']) * int(group[0]['per_node'])
    bandwidth = not group[0]['time_us']
    unit = ('Bandwidth (MB/s)' if 'Multi' not in title else 'MB/s        Messages/s') if bandwidth else \
        ('Latency (us)' if 'Latency' in title else 'Avg Latency(us)')
    lines = [f'# OSU MPI {title} {"Test" if bandwidth or "Latency" in title else "Latency Test"} v5.7']
    if title.startswith('Multiple'):
        lines.append(f'# [ pairs: {n // 2} ] [ window size: 64 ]')
    lines.append(f'# Size          {unit}')
    for row in group:
        size = int(row['bytes']) // (n if block else 1)
        if bandwidth:
            mb = float(row['algbw_GBps']) * 1000
            lines.append(f'{size:<12d} {mb:14.2f}' + (f' {mb * 1e6 / size:18.2f}' if 'Multi' in title else ''))
        else:
            lines.append(f'{size:<12d} {float(row["time_us"]):14.2f}')
    return lines


def perftest_table(group):
    bar = '-' * 87
    lines = [bar, '                    RDMA_Write BW Test', ' Dual-port       : OFF          Device         : mlx5_0',
             ' TX depth        : 128', ' Link type       : IB', bar,
             ' #bytes     #iterations    BW peak[MB/sec]    BW average[MB/sec]   MsgRate[Mpps]']
    for row in group:
        size, rate = int(row['bytes']), float(row['algbw_GBps']) * 1e9
        lines.append(f' {size:<10d} 5000           {rate / 2**20:16.2f} {rate / 2**20:18.2f} {rate / size / 1e6:18.6f}')
    return lines + [bar]


def imb_table(group, name):
    n = int(group[0]['nodes']) * int(group[0]['per_node'])
    lines = ['#------------------------------------------------------------', '#    Intel(R) MPI Benchmarks 2019, MPI-1 part',
             '#------------------------------------------------------------', '',
             '#-----------------------------------------------------------------------------',
             f'# Benchmarking {name}', f'# #processes = {2 if name == "PingPong" else n}',
             '#-----------------------------------------------------------------------------']
    lines.append('       #bytes #repetitions      t[usec]   Mbytes/sec' if name == 'PingPong' else
                 '       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]')
    for row in group:
        size, us = int(row['bytes']), float(row['time_us'])
        lines.append(f'{size:13d} {1000:12d} {us:12.2f} {size / us:12.2f}' if name == 'PingPong' else
                     f'{size:13d} {1000:12d} {us:12.2f} {us:12.2f} {us:12.2f}')
    return lines


def table(group):
    """(lines, further options of expect) or None."""
    base, _, algorithm = group[0]['benchmark'].partition(':')
    library = group[0]['library']
    if '_gpu' in group[0]['benchmark']:
        return None
    if measured.is_nccl(group[0]):
        operation = 'allreduce' if base == 'pico_allreduce' else KINDS.get(base)
        return operation and (nccl_table(group, operation)[1], measured.forced(group[0]))
    if base.startswith('pico_'):
        chosen = measured.PICO.get(base[5:], {}).get(algorithm)
        if base[5:] not in PICO_OSU or not chosen and algorithm != 'default':
            return None
        operation = measured.OPERATIONS.get(base[5:], base[5:])
        return (osu_table(group, PICO_OSU[base[5:]], base[5:] in BLOCKS),
                ['--library', 'openmpi'] + (['--collective', f'{operation}={chosen}'] if chosen else []))
    if base in OSU:
        return osu_table(group, OSU[base], False), ['--library', 'mpich' if 'Intel' in library else 'openmpi']
    if base.startswith('IMB ') and 'band' not in base:
        return imb_table(group, base.split()[1]), ['--library', 'mpich' if 'Intel' in library else 'openmpi']
    return (perftest_table(group), []) if base == 'ib_write_bw' else None


def setup(row):
    """(network, host's library) of a row; None where too little is known."""
    own = SETUPS.get(row['cluster'])
    return (own, 'nccl' if measured.is_nccl(row) else 'mpi') if own else measured.setup(row)


def groups(options):
    found = collections.defaultdict(list)
    for row in [row for name in options.tables for row in measured.read(name)]:
        if setup(row) and all(re.search(m, row['id']) for m in options.match) and \
                (row['time_us'] or row['algbw_GBps']):
            found[tuple(row[k] for k in ('cluster', 'benchmark', 'library', 'nodes', 'per_node'))].append(row)
    for key, group in sorted(found.items()):
        # A size that was measured several times is a row of several tables.
        series = collections.defaultdict(list)
        seen = collections.Counter()
        for row in sorted(group, key=lambda r: int(r['bytes'])):
            series[seen[row['bytes']]].append(row)
            seen[row['bytes']] += 1
        for number in sorted(series):
            yield key, series[number]


def judge(options, folder):
    """Yields (class, cluster, ratio) of each row."""
    for key, group in groups(options):
        made = table(group)
        if not made:
            continue
        lines, further = made
        name = re.sub(r'[^A-Za-z0-9_.-]+', '-', '_'.join(key))[:150] + '.log'
        path = os.path.join(folder, name)
        with open(path, 'w') as f:
            f.write('\n'.join(lines) + '\n')
        network, host = setup(group[0])
        nodes, each = int(group[0]['nodes']), int(group[0]['per_node'])
        ranks = 2 * each if 'PingPong' in key[1] else nodes * each
        ran = subprocess.run([options.tailback, 'expect', path, '-n', network, '-H', host, '--no-why', '-q', '-f', 'json',
                              '--jobs', str(options.jobs), '--per-node', str(each), '--ranks', str(ranks)] + further,
                             capture_output=True, text=True)
        if ran.returncode:
            print(f'{name}: left out: {(ran.stderr.strip().splitlines() or [""])[-1][:200]}', file=sys.stderr)
            continue
        for row in json.loads(ran.stdout)['rows']:
            if row['ratio'] is None or not row['bytes'] or row['in_place']:
                continue
            kind = row['operation'].split(' ')[0].replace('pairs', 'stream').replace('both', 'both-ways')
            size = 'small' if row['bytes'] < 1 << 20 else 'middle' if row['bytes'] < 64 << 20 else 'large'
            family = 'nccl' if row['tool'] in ('nccl-tests', 'rccl-tests') else 'verbs' if row['tool'] == 'perftest' else 'mpi'
            yield (kind, size, family, 'several' if row['hosts'] > 1 else 'one'), key[0], row['ratio']


def quantile(values, share):
    values = sorted(values)
    at = share * (len(values) - 1)
    low = int(at)
    return values[low] + (values[min(low + 1, len(values) - 1)] - values[low]) * (at - low)


def pooled(found, key, left_out=None):
    """The rows of a class; of few rows, those of other operations of its size, library and hosts, too."""
    def rows_of(keys):
        return [(c, r) for k in keys for c, r in found[k] if c != left_out]
    own = rows_of([key])
    return own if len(own) >= FEW or not own else rows_of(
        [k for k in found if k[1:] == key[1:] and (k[0] in MESSAGES) == (key[0] in MESSAGES)])


def span(rows, factor):
    """The range of a class: it always has 1, that measured and expected agree."""
    margin = factor ** max(1, 2 / len({c for c, _ in rows}))
    ratios = [r for _, r in rows]
    return min(1, quantile(ratios, .05) / margin), max(1, quantile(ratios, .95) * margin)


def left_out(found, factor):
    """How many rows are within the ranges of the other clusters, and how many have such a range."""
    within = n = 0
    for key, rows in found.items():
        for cluster in {c for c, _ in rows}:
            others = pooled(found, key, cluster)
            if not others:
                continue
            low, high = span(others, factor)
            of_it = [r for c, r in rows if c == cluster]
            within += sum(low <= r <= high for r in of_it)
            n += len(of_it)
    return within, n


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument('tailback')
    parser.add_argument('tables', nargs='+')
    parser.add_argument('-o', '--output', default='-')
    parser.add_argument('--match', action='append', default=[])
    parser.add_argument('--keep')
    parser.add_argument('--ratios')
    parser.add_argument('--from', dest='ratios_from', nargs='+', default=[])
    parser.add_argument('--jobs', type=int, default=1)
    options = parser.parse_args()
    found = collections.defaultdict(list)
    if options.ratios_from:
        for name in options.ratios_from:
            with open(name, newline='') as f:
                for *key, cluster, ratio in csv.reader(f):
                    found[tuple(key)].append((cluster, float(ratio)))
    else:
        with tempfile.TemporaryDirectory(prefix='ranges.') as folder:
            for key, cluster, ratio in judge(options, options.keep or folder):
                found[key].append((cluster, ratio))
    if not found:
        sys.exit('no row was judged')
    if options.ratios:
        with open(options.ratios, 'w', newline='') as f:
            csv.writer(f).writerows((*key, c, f'{r:.5g}') for key, rows in sorted(found.items()) for c, r in rows)
    factor = next((f for f in FACTORS if left_out(found, f)[0] >= .9 * left_out(found, f)[1]), FACTORS[-1])
    within, n = left_out(found, factor)
    own = sum(low <= r <= high for key, rows in found.items() for low, high in [span(pooled(found, key), factor)]
              for _, r in rows)
    total = sum(map(len, found.values()))
    print(f'{total} rows in {len(found)} classes, widened by {factor:.2f}: {own} of them within their ranges; '
          f'{within} of {n} rows of clusters left out', file=sys.stderr)
    out = sys.stdout if options.output == '-' else open(options.output, 'w', newline='')
    out.write('kind,size,library,hosts,rows,clusters,low,high\n')
    for key in sorted(found):
        rows = pooled(found, key)
        if len(rows) < LEAST:
            continue
        low, high = span(rows, factor)
        out.write(','.join(key) + f',{len(rows)},{len({c for c, _ in rows})},{math.floor(low * 1000) / 1000:.3g},'
                  f'{math.ceil(high * 1000) / 1000:.3g}\n')


main()
