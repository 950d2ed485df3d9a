#!/usr/bin/env python3
"""bursts.py TAILBACK [options]: bursts of several senders into one port, on network namespaces of this machine and replayed.

Ports at 50 Mbit/s are shaped by tbf. Senders are processes: on a busy machine the last one begins tens of milliseconds after
the first, as long as a short burst takes, unless they may have a real-time priority. So each run is replayed twice: with all
senders at once, and with each when it began. With --rtt a relay before node 0 holds each frame back for half of that time. Prints, by case: each run's end (when its last sender began) and those of the two replays, the median of five seeds,
in ms; and how many cases have a replay's median within 15 % of the range of the runs.

  --senders N,...  2,4,8,16
  --bytes N,...    65536
  --queue N,...    65536,524288
  --tcp NAME,...   cubic,reno,bbr
  --rtt MS,...     0
  --runs N         4"""
import argparse
import collections
import ctypes
import os
import select
import signal
import socket
import sqlite3
import statistics
import subprocess
import tempfile
import threading
import time

RATE, TCP_CONGESTION, CLONE_NEWNET = '50mbit', 13, 0x40000000
ETH_P_ALL, SOL_PACKET, PACKET_VNET_HDR, PACKET_IGNORE_OUTGOING = 3, 263, 15, 23
HOP_MS = .01  # hop_latency of the preset
OWN = os.getpid()  # as forks see it too
libc = ctypes.CDLL(None, use_errno=True)


def name(i):
    return f'tb{OWN}b{i}'


def ip(words, **options):
    subprocess.run(words.split(), check=True, **options)


def build(n, queue, rtt):
    """Node 0, which receives, and n senders, behind a bridge. Returns the relay before node 0, if there is one."""
    switch, shaper = name('s'), f'root tbf rate {RATE} burst 3200 limit {queue}'
    ip(f'ip netns add {switch}')
    ip(f'ip -n {switch} link add br0 type bridge')
    ip(f'ip -n {switch} link set br0 up')
    for i in range(n + 1):
        ip(f'ip netns add {name(i)}')
        end = f'p{i} netns {switch}'
        if i == 0 and rtt:
            ip(f'ip netns add {name("r")}')
            ip(f'ip link add out netns {name("r")} type veth peer name {end}')
            ip(f'ip -n {name("r")} link set out up')
            end = f'in netns {name("r")}'
        ip(f'ip link add eth0 netns {name(i)} type veth peer name {end}')
        ip(f'ip -n {name(i)} addr add 10.95.0.{i + 1}/24 dev eth0')
        ip(f'ip -n {name(i)} link set eth0 up')
        ip(f'ip -n {switch} link set p{i} master br0 up')
        ip(f'ip netns exec {name(i)} sysctl -qw net.ipv4.tcp_no_metrics_save=1')
        ip(f'tc -n {name(i)} qdisc add dev eth0 {shaper}')
        ip(f'tc -n {switch} qdisc add dev p{i} {shaper}')
    if not rtt:
        return None
    ip(f'ip -n {name("r")} link set in up')
    return child(lambda: relay(rtt / 2e3))


def relay(delay):
    """Passes frames on between `in` and `out`, in order, each after a delay in s; checksums and batches as they come."""
    enter('r', 20)
    ends = [socket.socket(socket.AF_PACKET, socket.SOCK_RAW) for _ in range(2)]
    for end, device in zip(ends, ('in', 'out')):
        for option in (PACKET_VNET_HDR, PACKET_IGNORE_OUTGOING):
            end.setsockopt(SOL_PACKET, option, 1)
        end.bind((device, ETH_P_ALL))
    held = collections.deque()
    while True:
        wait = max(0, held[0][0] - time.monotonic()) if held else None
        for end in select.select(ends, [], [], wait)[0]:
            frame = end.recv(1 << 17)
            held.append((time.monotonic() + delay, ends[end is ends[0]], frame))
        while held and held[0][0] <= time.monotonic():
            _, end, frame = held.popleft()
            end.send(frame)


def clean():
    for i in ['s', 'r', *range(17)]:
        subprocess.run(['ip', 'netns', 'del', name(i)], stderr=subprocess.DEVNULL, check=False)


def enter(i, priority=10):
    fd = os.open(f'/var/run/netns/{name(i)}', os.O_RDONLY)
    if libc.setns(fd, CLONE_NEWNET):
        raise OSError(ctypes.get_errno(), 'setns')
    os.close(fd)
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(priority))
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


def replay(tailback, starts, n_bytes, tcp, queue, rtt):
    """The median end over five seeds. A round trip crosses four links."""
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
                            f'ethernet-shaped,rate=50Mbit/s,queue={queue},tcp={tcp},hop_latency={HOP_MS + rtt / 4}ms', '--seed', str(seed), '--no-blame',
                            '-o', db], check=True)
            ends.append(sqlite3.connect(db).execute('SELECT max(delivered_ps) / 1e12 FROM message').fetchone()[0])
    return statistics.median(ends)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument('tailback')
    for key, default in (('senders', '2,4,8,16'), ('bytes', '65536'), ('queue', '65536,524288'), ('tcp', 'cubic,reno,bbr'),
                         ('rtt', '0')):
        parser.add_argument('--' + key, default=default)
    parser.add_argument('--runs', type=int, default=4)
    options = parser.parse_args()
    numbers = {key: [int(v) for v in getattr(options, key).split(',')] for key in ('senders', 'bytes', 'queue', 'rtt')}
    port, n_cases, inside = 20000, 0, [0, 0]
    try:
        for queue, rtt in ((q, r) for q in numbers['queue'] for r in numbers['rtt']):
            relaying = build(max(numbers['senders']), queue, rtt)
            measure(max(numbers['senders']), 1, 'reno', port)  # learns the addresses
            for n, n_bytes, tcp in ((n, b, t) for n in numbers['senders'] for b in numbers['bytes']
                                    for t in options.tcp.split(',')):
                ends, own, texts = [], [], []
                at_once = replay(options.tailback, [0] * n, n_bytes, tcp, queue, rtt)
                for _ in range(options.runs):
                    port += 1
                    end, starts = measure(n, n_bytes, tcp, port)
                    ends.append(end)
                    own.append(replay(options.tailback, starts, n_bytes, tcp, queue, rtt))
                    texts.append(f'{end * 1e3:.0f} ({max(starts) * 1e3:.0f}) {own[-1] * 1e3:.0f}')
                hits = [min(ends) * .85 <= m <= max(ends) * 1.15 for m in (at_once, statistics.median(own))]
                n_cases += 1
                inside = [a + b for a, b in zip(inside, hits)]
                print(f'{n} of {n_bytes} B, {queue} B of queue, {rtt} ms, {tcp}: at once {at_once * 1e3:.0f};',
                      ', '.join(texts), '' if all(hits) else 'misses', flush=True)
            if relaying:
                os.kill(relaying, signal.SIGKILL)
                os.waitpid(relaying, 0)
            clean()
    finally:
        clean()
    print(f'{n_cases} cases: {inside[0]} within 15 % with all at once, {inside[1]} with the starts of each run')


if __name__ == '__main__':
    main()
