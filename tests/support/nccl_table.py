"""nccl_table.py OPERATION HOSTS PER_NODE [--hosts NAME,...] [--slow NAME=FACTOR] [--wrong BYTES] [--from JSON] [SIZE US]...

Prints the table that nccl-tests print: SIZE bytes took US microseconds, or, of --from, the expected times of 'tailback
expect -f json'. --slow divides the rates of a table in which the host NAME takes part."""
import argparse
import json

parser = argparse.ArgumentParser()
parser.add_argument('operation')
parser.add_argument('n_hosts', type=int)
parser.add_argument('each', type=int)
parser.add_argument('--hosts')
parser.add_argument('--slow', default='=1')
parser.add_argument('--wrong', type=int)
parser.add_argument('--from', dest='source')
parser.add_argument('figures', nargs='*', type=float)
o = parser.parse_intermixed_args()
hosts = o.hosts.split(',') if o.hosts else [f'node{i:03d}' for i in range(o.n_hosts)]
n = o.n_hosts * o.each
share = {'all_reduce': 2 * (n - 1) / n, 'all_gather': (n - 1) / n, 'reduce_scatter': (n - 1) / n, 'alltoall': (n - 1) / n,
         'broadcast': 1}[o.operation]
rows = list(zip(map(int, o.figures[::2]), o.figures[1::2]))
if o.source:
    with open(o.source) as f:
        rows = [(r['bytes'], r['expected_ps'] / 1e6) for r in json.load(f)['rows'] if not r['in_place']]
name, factor = o.slow.split('=')
redop, root = ('sum', -1) if 'reduce' in o.operation else ('none', 0 if o.operation == 'broadcast' else -1)
print(f'# Collective test starting: {o.operation}_perf')
print('# nThread 1 nGpus 1 minBytes 8 maxBytes 8 step: 2(factor) warmup iters: 5 iters: 20 agg iters: 1 validation: 1 '
      'graph: 0\n#\n# Using devices')
for r in range(n):
    print(f'#  Rank {r:2d} Group  0 Pid {1000 + r:6d} on {hosts[r // o.each]:>10s} device {r % o.each:2d} [0x1b] GPU')
print('#\n#                                                              out-of-place                       in-place\n'
      '#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong\n'
      '#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)')
for size, us in rows:
    us *= float(factor) if name in hosts else 1
    rate = size / us / 1e3
    figures = f'{us:10.2f} {rate:8.2f} {rate * share:8.2f}'
    wrong = 5 if size == o.wrong else 0
    in_place = 'N/A' if o.operation == 'alltoall' else str(wrong)
    print(f'{size:12d} {size:13d}      int8 {redop:>7s} {root:7d} {figures} {wrong:6d} {figures} {in_place:>6s}')
print('# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 0\n#')
