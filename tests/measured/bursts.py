#!/usr/bin/env python3
"""bursts.py TAILBACK [options]: bursts of several senders into one port, on network namespaces of this machine and replayed.

Ports at 50 Mbit/s are shaped by tbf. Senders are processes: on a busy machine the last one begins tens of milliseconds after
the first, as long as a short burst takes, unless they may have a real-time priority. So each run is replayed twice: with all
senders at once, and with each when it began. Prints, by case: each run's end (when its last sender began) and those of the two replays, the median of five seeds,
in ms; and how many cases have a replay's median within 15 % of the range of the runs.

  --senders N,...  2,4,8,16
  --bytes N,...    65536
  --queue N,...    65536,524288
  --tcp NAME,...   cubic,reno,bbr
  --runs N         4"""
import argparse
import ctypes
import os
import socket
import sqlite3
import statistics
import subprocess
import tempfile
import threading
import time

RATE, TCP_CONGESTION, CLONE_NEWNET = '50mbit', 13, 0x40000000
OWN = os.getpid()  # as forks see it too
libc = ctypes.CDLL(None, use_errno=True)


def name(i):
    return f'tb{OWN}b{i}'


def ip(words, **options):
    subprocess.run(words.split(), check=True, **options)


def build(n, queue):
    """Node 0, which receives, and n senders, behind a bridge."""
    switch, shaper = name('s'), f'root tbf rate {RATE} burst 3200 limit {queue}'
    ip(f'ip netns add {switch}')
    ip(f'ip -n {switch} link add br0 type bridge')
    ip(f'ip -n {switch} link set br0 up')
    for i in range(n + 1):
        ip(f'ip netns add {name(i)}')
        ip(f'ip link add eth0 netns {name(i)} type veth peer name p{i} netns {switch}')
        ip(f'ip -n {name(i)} addr add 10.95.0.{i + 1}/24 dev eth0')
        ip(f'ip -n {name(i)} link set eth0 up')
        ip(f'ip -n {switch} link set p{i} master br0 up')
        ip(f'ip netns exec {name(i)} sysctl -qw net.ipv4.tcp_no_metrics_save=1')
        ip(f'tc -n {name(i)} qdisc add dev eth0 {shaper}')
        ip(f'tc -n {switch} qdisc add dev p{i} {shaper}')


def clean():
    for i in ['s', *range(17)]:
        subprocess.run(['ip', 'netns', 'del', name(i)], stderr=subprocess.DEVNULL, check=False)


def enter(i):
    fd = os.open(f'/var/run/netns/{name(i)}', os.O_RDONLY)
    if libc.setns(fd, CLONE_NEWNET):
        raise OSError(ctypes.get_errno(), 'setns')
    os.close(fd)
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(10))
    except PermissionError:
        pass  # then other programs put it off


def child(work):
    pid = os.fork()
    if pid == 0:
        try:
            work()
        finally:
            os._exit(0)
    return pid


def measure(n, n_bytes, tcp, port):
    """The end of the last message, and when each sender began, in s from when all were to begin."""
    begin = time.monotonic() + 0.6
    read, write = os.pipe()

    def receive():
        enter(0)
        listener = socket.create_server(('', port), backlog=64)

        def drain(connection):
            left = n_bytes
            while left > 0:
                left -= len(connection.recv(left)) or left
            os.write(write, f'end {time.monotonic() - begin}\n'.encode())
            connection.sendall(b'k')
        threads = [threading.Thread(target=drain, args=(listener.accept()[0],)) for _ in range(n)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()

    def send(i):
        enter(i)
        s = socket.socket()
        s.setsockopt(socket.IPPROTO_TCP, TCP_CONGESTION, tcp.encode())
        time.sleep(max(0, begin - time.monotonic()))
        os.write(write, f'{i} {time.monotonic() - begin}\n'.encode())
        s.connect(('10.95.0.1', port))
        s.sendall(bytes(n_bytes))
        s.recv(1)
    for pid in [child(receive)] + [child(lambda i=i: send(i)) for i in range(1, n + 1)]:
        os.waitpid(pid, 0)
    os.close(write)
    with os.fdopen(read) as lines:
        said = [line.split() for line in lines]
    starts = {int(i): max(0.0, float(at)) for i, at in said if i != 'end'}
    return max(float(at) for i, at in said if i == 'end'), [starts[i] for i in range(1, n + 1)]


def replay(tailback, starts, n_bytes, tcp, queue):
    """The median end over five seeds."""
    ends = []
    with tempfile.TemporaryDirectory() as work:
        with open(f'{work}/job.goal', 'w') as job:
            print(f'num_ranks {len(starts) + 1}\nrank 0 {{', file=job)
            for i in range(1, len(starts) + 1):
                print(f'r{i}: recv {n_bytes}b from {i} tag {i} cpu {i}', file=job)
            print('}', file=job)
            for i, at in enumerate(starts, 1):
                print(f'rank {i} {{\nc: calc {int(at * 1e9)}\ns: send {n_bytes}b to 0 tag {i}\ns requires c\n}}', file=job)
        for seed in range(1, 6):
            db = f'{work}/{seed}.db'
            subprocess.run([tailback, 'replay', '-q', f'{work}/job.goal', '-n',
                            f'ethernet-shaped,rate=50Mbit/s,queue={queue},tcp={tcp}', '--seed', str(seed), '--no-blame',
                            '-o', db], check=True)
            ends.append(sqlite3.connect(db).execute('SELECT max(delivered_ps) / 1e12 FROM message').fetchone()[0])
    return statistics.median(ends)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument('tailback')
    for key, default in (('senders', '2,4,8,16'), ('bytes', '65536'), ('queue', '65536,524288'), ('tcp', 'cubic,reno,bbr')):
        parser.add_argument('--' + key, default=default)
    parser.add_argument('--runs', type=int, default=4)
    options = parser.parse_args()
    numbers = {key: [int(v) for v in getattr(options, key).split(',')] for key in ('senders', 'bytes', 'queue')}
    port, n_cases, inside = 20000, 0, [0, 0]
    try:
        for queue in numbers['queue']:
            build(max(numbers['senders']), queue)
            for n, n_bytes, tcp in ((n, b, t) for n in numbers['senders'] for b in numbers['bytes']
                                    for t in options.tcp.split(',')):
                ends, own, texts = [], [], []
                at_once = replay(options.tailback, [0] * n, n_bytes, tcp, queue)
                for _ in range(options.runs):
                    port += 1
                    end, starts = measure(n, n_bytes, tcp, port)
                    ends.append(end)
                    own.append(replay(options.tailback, starts, n_bytes, tcp, queue))
                    texts.append(f'{end * 1e3:.0f} ({max(starts) * 1e3:.0f}) {own[-1] * 1e3:.0f}')
                hits = [min(ends) * .85 <= m <= max(ends) * 1.15 for m in (at_once, statistics.median(own))]
                n_cases += 1
                inside = [a + b for a, b in zip(inside, hits)]
                print(f'{n} of {n_bytes} B, {queue} B of queue, {tcp}: at once {at_once * 1e3:.0f};', ', '.join(texts),
                      flush=True)
            clean()
    finally:
        clean()
    print(f'{n_cases} cases: {inside[0]} within 15 % with all at once, {inside[1]} with the starts of each run')


if __name__ == '__main__':
    main()
