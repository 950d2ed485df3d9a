#!/usr/bin/env python3
"""fluid.py TAILBACK [options]: how far the fluid is off packets on every pattern of `tailback synth`, by switching.

For each pattern, number of nodes and size it replays packets and flows, and prints, in %, how far the run time is off,
and the mean of a flow (the mean latency of a pair of nodes); at the end a table by network and group of patterns, of
which docs/fluid.md and headings have the last row of each.

  --network REGEX  only networks that match (names of the table)
  --match REGEX    only cases that match
  --nodes N        only 16 or 64 nodes
  --check PAGE     whether the means are as in the table of PAGE (docs/fluid.md), a third and a point more at most
  --seed N         judge packets drawn anew instead of flows: how far chance alone goes
  --seeds N        judge the mean of N seeds by that of packets, and, beside it, one seed of packets by that of the others
  --quiet          only the table"""
import argparse
import collections
import os
import random
import re
import sqlite3
import subprocess
import sys
import tempfile

SHAPES = {16: 'arity=4,levels=2', 64: 'arity=4,levels=3'}
# By name: the preset, two sizes of messages, and the rate of its links in Gbit/s.
NETWORKS = {
    'credits': ('ib-hdr,ascent=deterministic', ('64K', '1M'), 200),
    'credits adaptive': ('ib-hdr,ascent=adaptive', ('64K', '1M'), 200),
    'RoCE': ('roce-100', ('64K', '1M'), 100),
    'RoCE adaptive': ('roce-100,ascent=adaptive', ('64K', '1M'), 100),
    'circuits': ('qsnet,ascent=deterministic', ('8K', '128K'), 3.2),
    'circuits adaptive': ('qsnet', ('8K', '128K'), 3.2),
    'ethernet': ('ethernet', ('64K', '1M'), 1),
    'ethernet adaptive': ('ethernet,ascent=adaptive', ('64K', '1M'), 1),
}
PERMUTATIONS = 'bit-reversal butterfly complement transpose shuffle neighbour'.split()
RANDOM = 'uniform hot-spot io-random io-fixed'.split()
COLLECTIVES = ('broadcast:binomial broadcast:scatter-allgather broadcast:linear broadcast:chain broadcast:split-binary '
               'scatter:binomial scatter:sequential gather:binomial gather:sequential reduce:binomial '
               'reduce:rabenseifner allgather:direct allgather:bruck allgather:ring allgather:exchange '
               'alltoall:direct alltoall:pairwise alltoall:bruck alltoall:linear allreduce:doubling '
               'allreduce:ring allreduce:rabenseifner reduce-scatter:halving reduce-scatter:pairwise scan:doubling').split()

UNEQUAL = ('uniform hot-spot io-random shuffle bit-reversal allgather:ring alltoall:direct alltoall:pairwise '
           'allreduce:rabenseifner').split()


def synth(name, nodes, size):
    kind, _, algorithm = name.partition(':')
    if algorithm:
        return [kind, '--algorithm', algorithm, '-n', nodes, '--size', size]
    return [kind, '-n', nodes, '--message', size, '--messages', '4']


def cases(nodes, sizes):
    """Yields group, name and arguments of synth, and of which fabric with unequal cables, if any."""
    for size in sizes:
        for name in PERMUTATIONS:
            yield 'permutations', f'{name} {size}', synth(name, nodes, size), None
        for name in RANDOM + ['stencil']:
            yield name, f'{name} {size}', synth(name, nodes, size), None
        for name in COLLECTIVES:
            yield name.split(':')[0], f'{name} {size}', synth(name, nodes, size), None
    yield 'barrier', 'barrier', ['barrier', '-n', nodes], None
    if nodes == '16':
        for name in 'write read tile-write tile-read resize create'.split():
            yield 'io', f'io {name}', ['io', name, '--clients', '8', '--servers', '8'], None
        yield 'io', 'io bt', ['io', 'bt', '--clients', '9', '--servers', '7', '--repeat', '2'], None
        for name in UNEQUAL:
            for fabric in 1, 2, 3:
                yield 'unequal', f'{name} unequal {fabric}', synth(name, nodes, sizes[1]), fabric


def write_unequal(path, seed, most):
    """Two levels of 16 nodes with cables of `most` Gbit/s, a half and a fourth: by spine, by cable, of nodes too."""
    draw = random.Random(seed)
    spines = [draw.choice((1, 2, 4)) for _ in range(4)]
    with open(path, 'w') as out:
        print('src,dst,bandwidth_gbps,latency_ns', file=out)
        for leaf in range(4):
            for host in range(4 * leaf, 4 * leaf + 4):
                print(f'h{host},l{leaf},{most / (draw.choice((1, 2)) if seed % 3 == 2 else 1)},300', file=out)
            for spine in range(4):
                print(f'l{leaf},s{spine},{most / (draw.choice((1, 2, 4)) if seed % 3 else spines[spine])},300', file=out)


def replay(tailback, job, network, store, seed=1):
    if os.path.exists(store):
        os.remove(store)
    done = subprocess.run([tailback, 'replay', job, '-n', network, '-q', '-s', str(seed), '-o', store],
                          capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f'{network}: {done.stderr.strip()}')
    with sqlite3.connect(store) as db:
        span = db.execute('select max(last_ps) from job_total').fetchone()[0]
        flows = {(s, d): latency / n for s, d, latency, n in
                 db.execute('select source, destination, latency_ps, messages from flow where messages > 0')}
    return span, flows


def mean_of(runs):
    spans, flows = zip(*runs)
    return (sum(spans) / len(spans),
            {pair: sum(of[pair] for of in flows) / len(flows) for pair in flows[0] if all(pair in of for of in flows)})


def apart(run, other):
    """By how many % a run time, and the mean flow, are off those of another."""
    flows = [abs(run[1][pair] / took - 1) for pair, took in other[1].items()]
    return 100 * (run[0] / other[0] - 1), 100 * sum(flows) / max(len(flows), 1)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument('tailback')
    parser.add_argument('--network', default='')
    parser.add_argument('--match', default='')
    parser.add_argument('--nodes')
    parser.add_argument('--check')
    parser.add_argument('--seed', type=int)
    parser.add_argument('--seeds', type=int, default=1)
    parser.add_argument('--quiet', action='store_true')
    options = parser.parse_args()
    errors = collections.defaultdict(list)
    with tempfile.TemporaryDirectory() as folder:
        job, store, cables = (os.path.join(folder, name) for name in ('job.goal', 'run.db', 'unequal.csv'))
        for network, (preset, sizes, rate) in NETWORKS.items():
            if not re.fullmatch(options.network or '.*', network):
                continue
            for nodes, shape in SHAPES.items():
                if options.nodes and int(options.nodes) != nodes:
                    continue
                for group, name, arguments, fabric in cases(str(nodes), sizes):
                    if not re.search(options.match, name):
                        continue
                    subprocess.run([options.tailback, 'synth', *arguments, '-o', job], check=True, capture_output=True)
                    of = f'{preset},{shape}'
                    if fabric:
                        write_unequal(cables, fabric, rate)
                        of = f'{cables},preset={preset}'
                    seeds = range(1, options.seeds + 1)
                    packets = [replay(options.tailback, job, of, store, seed) for seed in seeds]
                    other = of + ('' if options.seed else ',switching=fluid')
                    flows = [replay(options.tailback, job, other, store, options.seed or seed) for seed in seeds]
                    run, flow = apart(mean_of(flows), mean_of(packets))
                    errors[network, group].append((run, flow, nodes, name))
                    if options.seeds > 1:
                        errors[network + ': seed', group].append(
                            (*apart(packets[0], mean_of(packets[1:])), nodes, name))
                    if not options.quiet:
                        print(f'{network:18s} {nodes} {name:34s} {packets[0][0] / 1e6:12.1f} us {run:+7.1f} {flow:6.1f}',
                              flush=True)
    print(f'{"":18s} {"":14s} {"run":>6s} {"worst":>6s} {"flow":>6s} {"worst":>6s}')
    for network in [name + one for name in NETWORKS for one in ('', ': seed')]:
        rows = {group: found for (of, group), found in errors.items() if of == network}
        for group, found in list(rows.items()) + [('all', [e for found in rows.values() for e in found])]:
            if found:
                worst = max(found, key=lambda e: abs(e[0]))
                print(f'{network:18s} {group:14s} {sum(abs(e[0]) for e in found) / len(found):6.1f} {worst[0]:+6.1f} '
                      f'{sum(e[1] for e in found) / len(found):6.1f} {max(e[1] for e in found):6.1f}  '
                      f'{worst[2]} {worst[3]}')
        if rows and options.check and network in NETWORKS:
            check(options.check, NETWORKS[network][0], [e for found in rows.values() for e in found])


def check(page, preset, found):
    """The row of a network: | `preset` | run time and flow of random programs | of patterns | worst | flow |"""
    row = re.search(rf'\| `{re.escape(preset)}` \|(.*)', open(page).read()).group(1).split('|')
    for what, column, at in (('run time', 2, 0), ('flow', 4, 1)):
        mean, most = sum(abs(e[at]) for e in found) / len(found), float(row[column]) * 4 / 3 + 1
        if mean > most:
            sys.exit(f'{preset}: {what} {mean:.1f} % off, more than {row[column].strip()}')


if __name__ == '__main__':
    sys.exit(main())
