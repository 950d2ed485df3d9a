"""A parameter server of 4 workers over TCP, one process per address 10.94.0.1 (the server) and on: RANK STEPS BYTES.
Computation is sleep. Worker 1 prints how many seconds its steps took."""
import random
import selectors
import socket
import sys
import time

rank, steps, size = (int(word) for word in sys.argv[1:])
address = ('10.94.0.1', 5001)


def serve():
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(address)
    listener.listen()
    workers = [listener.accept()[0] for _ in range(4)]
    selector = selectors.DefaultSelector()
    for worker in workers:
        worker.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        selector.register(worker, selectors.EVENT_READ)
    for _ in range(steps):
        left = {worker: size for worker in workers}
        while any(left.values()):
            for key, _ in selector.select():
                worker = key.fileobj
                left[worker] -= len(worker.recv(min(65536, left[worker]) or 1))
                if not left[worker]:
                    time.sleep(.001)
        time.sleep(.004)
        for worker in workers:
            worker.sendall(bytes(size))
    for act in (lambda worker: worker.recv(1), lambda worker: worker.send(b'.')):  # all end together
        for worker in workers:
            act(worker)


def work():
    noise = random.Random(rank)
    while True:
        try:
            server = socket.create_connection(address)
            break
        except OSError:
            time.sleep(.02)
    server.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    begin = time.monotonic()
    for _ in range(steps):
        time.sleep(.01 + .01 * noise.random())
        server.sendall(bytes(size))
        left = size
        while left:
            left -= len(server.recv(min(65536, left)))
    server.send(b'.')
    server.recv(1)
    if rank == 1:
        print('%.4f' % (time.monotonic() - begin))


if rank:
    work()
else:
    serve()
