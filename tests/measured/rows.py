"""What public benchmarks measured, as calls of `tailback replay`.

A row of the table (columns: id, cluster, nodes, per_node, benchmark, library, bytes, time_us, algbw_GBps) becomes one
job: a profile of one collective call for --clone-ranks, or GOAL of the messages. Set-ups are what the sources say of
the clusters, nothing else: a network of the presets, adapters per node, and the GPUs' links."""
import csv
import hashlib
import json
import math
import os
import re
import subprocess

UNITS = {'ps': 1e-6, 'ns': 1e-3, 'us': 1.0, 'ms': 1e3, 's': 1e6}
NVLINK5 = 'local_rate=721.8GB/s'  # 18 links of 40.1 GB/s (SM100_NVLINK_BW, src/graph/topo.h of NCCL)
NVLINK2 = 'local_rate=120GB/s'    # 6 links of 20 GB/s (SM70_NVLINK_BW)


def read(path):
    with open(path, newline='') as f:
        return list(csv.DictReader(f))


def is_nccl(row):
    base, _, algorithm = row['benchmark'].partition(':')
    return base.endswith('_perf') or algorithm.startswith('nccl')


def setup(row):
    """(network, host) of a row; None where the source does not say enough, or contradicts itself."""
    cluster, each, nccl = row['cluster'], int(row['per_node']), is_nccl(row)
    rails = f',rails={each}' if each > 1 else ''
    table = {
        'xj00': ('ib-ndr,pcie=13.7GB/s' + rails, 'nccl'),  # its adapters carry 13.7 GB/s
        'xj01': ('ib-ndr' + rails, 'nccl'),
        'tgA-b200': ('ib-ndr,rails=8', 'nccl,' + NVLINK5),
        'tgB-b200': ('ib-ndr,rails=8', 'nccl,' + NVLINK5),
        'tgC-h100': ('ib-ndr,rails=8', 'nccl'),
        'abciA': ('ib-hdr,rails=4' if nccl or each > 1 else 'ib-hdr,rails=2', 'nccl' if nccl else 'mpi'),
        'abciV': ('ib-edr,rails=2', 'nccl,' + NVLINK2 if nccl else 'mpi'),
        'mn5acc': ('ib-ndr,rate=200Gbit/s' + (',rails=4' if nccl else ''), 'nccl' if nccl else 'mpi'),
        'oci-gpu4': ('roce-100,rails=16', 'nccl'),
        'oci-x9': ('roce-100', 'mpi'),
        'vm-a100hdr': ('ib-hdr', 'none'),
        'nv-roce100': ('roce-100,payload=1024', 'none'),
        'cofc': ('ib-edr', 'mpi'),
        'az-hc44': ('ib-edr', 'mpi'),
        'az-hc44c': ('ib-edr', 'mpi'),
    }
    return table.get(cluster)


# The names of PICO's algorithms here.
PICO = {
    'allreduce': {'ring': 'ring', 'rabenseifner': 'rabenseifner', 'recursive_doubling': 'doubling'},
    'alltoall': {'linear': 'linear', 'linear_sync': 'linear-sync', 'pairwise': 'shift', 'modified_bruck': 'bruck'},
    'bcast': {'binary': 'binary', 'binomial': 'mirrored-binomial', 'knomial': 'knomial',
              'scatter_allgather': 'scatter-doubling', 'scatter_allgather_ring': 'scatter-ring',
              'split_binary': 'split-binary'},
    'reduce': {'binary': 'binary', 'binomial': 'binomial', 'in_order': 'in-order-binary', 'linear': 'linear',
               'rabenseifner': 'rabenseifner'},
    'allgather': {'neighbor': 'neighbor', 'recursive_doubling': 'doubling', 'ring': 'ring'},
    'reduce_scatter': {'recursive_halving': 'halving', 'ring': 'ring'},
    'gather': {'binomial': 'binomial', 'linear': 'linear', 'linear_synch': 'linear-sync'},
    'scatter': {'binomial': 'binomial', 'linear': 'linear', 'linear_nb': 'linear'},
}
OPERATIONS = {'bcast': 'broadcast', 'reduce_scatter': 'reduce-scatter'}
NCCL_TESTS = {'all_reduce_perf': 'allreduce', 'alltoall_perf': 'alltoall', 'all_gather_perf': 'allgather',
              'reduce_scatter_perf': 'reduce_scatter', 'broadcast_perf': 'bcast', 'reduce_perf': 'reduce'}
MPI_TESTS = {'osu_allreduce': 'allreduce', 'IMB Allreduce': 'allreduce', 'osu_bcast': 'bcast',
             'IMB Alltoall': 'alltoall', 'osu_alltoall': 'alltoall'}
PROFILED = {'allreduce': ('allreduce', 'AllReduce_Sum_f32_RING_SIMPLE'),
            'allgather': ('_allgather_base', 'AllGather_RING_SIMPLE'),
            'reduce_scatter': ('_reduce_scatter_base', 'ReduceScatter_Sum_f32_RING_SIMPLE'),
            'alltoall': ('all_to_all', 'SendRecv'), 'bcast': ('broadcast', 'Broadcast_RING_SIMPLE'),
            'reduce': ('reduce', 'Reduce_Sum_f32_RING_SIMPLE'), 'gather': ('gather', 'SendRecv'),
            'scatter': ('scatter', 'SendRecv')}


def write_call(path, operation, total, n):
    """A profile of one collective call; total is the whole vector: in of an all-reduce, all blocks of the others."""
    whole = operation in ('allreduce', 'bcast', 'reduce')
    byte = total % 4 != 0 or (not whole and total % (4 * n) != 0)
    elements = total if byte else total // 4
    block = max(1, elements // n)
    into, out = {'allgather': (block, block * n), 'gather': (block, block * n), 'reduce_scatter': (block * n, block),
                 'scatter': (block * n, block), 'alltoall': (block * n, block * n)}.get(operation, (elements, elements))
    name, kernel = PROFILED[operation]
    args = {'External id': 10, 'correlation': 10, 'stream': 7, 'device': 0, 'Collective name': name,
            'In msg nelems': into, 'Out msg nelems': out, 'Group size': n, 'dtype': 'Byte' if byte else 'Float',
            'In split size': '[]', 'Out split size': '[]', 'Process Group Name': '0',
            'Process Group Description': 'default_pg', 'Process Group Ranks': str(list(range(n)))}
    events = [{'ph': 'M', 'name': 'process_name', 'pid': 0, 'tid': 0, 'ts': 0, 'args': {'name': 'python'}},
              {'ph': 'X', 'cat': 'kernel', 'name': 'ncclDevKernel_' + kernel, 'pid': 0, 'tid': 7, 'ts': 1000,
               'dur': 100, 'args': args}]
    with open(path, 'w') as f:
        json.dump({'schemaVersion': 1, 'distributedInfo': {'backend': 'nccl', 'rank': 0, 'world_size': n},
                   'traceEvents': events}, f)


def write_goal(path, n, lines):
    with open(path, 'w') as f:
        f.write(f'num_ranks {n}\n')
        for r in range(n):
            f.write(f'rank {r} {{\n' + '\n'.join(lines.get(r, [])) + '\n}\n')


def forced(row):
    """What the environment of the benchmark chose in place of NCCL: ['--collective', 'allreduce=nccl-ring']."""
    base, _, algorithm = row['benchmark'].partition(':')
    operation = NCCL_TESTS.get(base, 'allreduce')
    if 'ALGO=Ring' in row['library'] or algorithm == 'nccl_ring':
        return ['--collective', OPERATIONS.get(operation, operation) + '=nccl-ring']
    return ['--collective', 'allreduce=nccl-tree'] if algorithm in ('nccl_tree', 'tree') else []


def job(row, folder):
    """(arguments of replay, how the simulated time becomes the measured one) or None. The latter is a factor, or
    ('bw', bytes) for a bandwidth."""
    nodes, each, size = int(row['nodes']), int(row['per_node']), int(row['bytes'])
    n, where = nodes * each, setup(row)
    base, _, algorithm = row['benchmark'].partition(':')
    if not where or '_gpu' in row['benchmark']:
        return None
    path = os.path.join(folder, hashlib.md5(row['id'].encode()).hexdigest()[:10])
    place = ['-n', where[0], '-H', where[1]] + (['--per-node', str(each)] if each > 1 or nodes == 1 else [])
    if is_nccl(row) and (base in NCCL_TESTS or base == 'pico_allreduce'):
        write_call(path + '.json', NCCL_TESTS.get(base, 'allreduce'), size, n)
        return [path + '.json', '--clone-ranks', str(n)] + place + forced(row), 1
    if base.startswith('pico_'):
        operation = base[5:]
        chosen = PICO.get(operation, {}).get(algorithm)
        if not chosen and algorithm != 'default':
            return None
        choice = ['--collective', f'{OPERATIONS.get(operation, operation)}={chosen}'] if chosen else []
        write_call(path + '.json', operation, size, n)
        return [path + '.json', '--clone-ranks', str(n)] + place + ['--library', 'openmpi'] + choice, 1
    if base in MPI_TESTS:
        operation = MPI_TESTS[base]
        write_call(path + '.json', operation, size * n if operation == 'alltoall' else size, n)
        library = 'intelmpi' if 'Intel' in row['library'] else 'openmpi'
        return [path + '.json', '--clone-ranks', str(n)] + place + ['--library', library], 1
    lines, half = {}, n // 2
    if base == 'sendrecv_perf':
        for r in range(n):
            lines[r] = [f'l1: send {size}b to {(r + 1) % n} tag 0 cpu 0', f'l2: recv {size}b from {(r - 1) % n} tag 0 cpu 1']
        factor = 1
    elif base in ('osu_multi_lat', 'osu_latency', 'ib_write_lat', 'IMB PingPong', 'IMB PingPong neighbours'):
        n, half = 2 * each, each
        for r in range(half):
            lines[r] = [f'l1: send {size}b to {r + half} tag 0 cpu 0', f'l2: recv {size}b from {r + half} tag 1 cpu 0']
            lines[r + half] = [f'l1: recv {size}b from {r} tag 0 cpu 0', f'l2: send {size}b to {r} tag 1 cpu 0',
                               'l2 requires l1']
        factor = .5
    elif base in ('osu_mbw_mr', 'osu_bw', 'osu_bibw', 'ib_write_bw'):
        window, ways = range(1, 65), 2 if base == 'osu_bibw' else 1
        for r in range(half):
            for way in range(ways):
                a, b = (r, r + half) if way == 0 else (r + half, r)
                lines.setdefault(a, []).extend(f'l{100 * way + i}: send {size}b to {b} tag {i} cpu {way}' for i in window)
                lines.setdefault(b, []).extend(f'l{200 + 100 * way + i}: recv {size}b from {a} tag {i} cpu {1 - way}'
                                               for i in window)
        factor = ('bw', size * 64 * half * ways)
    else:
        return None
    write_goal(path + '.goal', n, lines)
    return [path + '.goal'] + place, factor


def gigabytes(row):
    """About what all ranks send, in GB: by it a replay's cost is judged before it runs."""
    base, n, size = row['benchmark'].partition(':')[0], int(row['nodes']) * int(row['per_node']), int(row['bytes'])
    if base in ('osu_mbw_mr', 'osu_bw', 'osu_bibw', 'ib_write_bw'):
        return size * 64 * max(1, n // 2) / 1e9
    if base in ('sendrecv_perf', 'alltoall_perf') or base.startswith('pico_alltoall'):
        return size * n / 1e9
    if 'lltoall' in base:
        return size * n * n / 1e9
    return 2 * size * (1 if 'PingPong' in base or base.endswith(('_lat', '_latency')) else n) / 1e9


def size_class(row):
    size = int(row['bytes'])
    return 'below 1 MiB' if size < 1 << 20 else 'from 64 MiB' if size >= 64 << 20 else '1 to 64 MiB'


def replay(tailback, arguments, folder, timeout):
    """(microseconds, sentence): the simulated time, or None and why there is none."""
    store = os.path.join(folder, 'row.db')
    for name in (store, store + '-wal', store + '-shm'):
        if os.path.exists(name):
            os.remove(name)
    try:
        ran = subprocess.run([tailback, 'replay'] + arguments + ['--no-blame', '-o', store], capture_output=True,
                             text=True, timeout=timeout)
    except subprocess.TimeoutExpired:
        return None, f'more than {timeout:.0f} s'
    found = re.search(r'simulated ([\d.,]+) (ps|ns|us|ms|s):', ran.stdout + ran.stderr)
    if ran.returncode or not found:
        return None, (ran.stderr.strip().split('\n') or [''])[-1][:150]
    return float(found[1].replace(',', '')) * UNITS[found[2]], ran.stdout + ran.stderr


def ratio(row, factor, us):
    """Simulated time over measured time."""
    if isinstance(factor, tuple):
        return float(row['algbw_GBps']) * us * 1000 / factor[1]
    return us * factor / float(row['time_us'])


def within(ratios, most):
    return sum(abs(math.log(r)) <= math.log(most) + 1e-9 for r in ratios)
