#!/usr/bin/env python3
"""short_messages.py N > OUT.pcap: N messages of a segment each among 16 nodes, in rounds 2 ms apart."""
import struct
import sys

NODES, PAYLOAD, ROUND_NS, CAPTURED = 16, 200, 2_000_000, 66
HEADERS = CAPTURED  # Ethernet, IPv4, TCP with time stamps
sys.stdout.buffer.write(struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, CAPTURED, 1))
sent = {}
for i in range(int(sys.argv[1])):
    turn, source = divmod(i, NODES)
    other = (source + (1, NODES - 1, 4, 8)[turn % 4]) % NODES
    ns = turn * ROUND_NS + source * 5000 + turn % 7 * 300
    number = sent.get((source, other), 1)
    sent[source, other] = number + PAYLOAD
    frame = struct.pack(">HIHI", 0x024D, other, 0x024D, source) + b"\x08\x00"
    length = HEADERS - 14 + PAYLOAD
    frame += struct.pack(">BBHHHBBHII", 0x45, 0, length, i & 0xFFFF, 0, 64, 6, 0, 0x0A4D0001 + source, 0x0A4D0001 + other)
    frame += struct.pack(">HHIIBBHHH", 40000 + source, 40000 + other, number & 0xFFFFFFFF, sent.get((other, source), 1), 0x80, 0x18, 500, 0, 0)
    frame += b"\x01\x01\x08\x0a" + bytes(8)
    stamp = 1_700_000_000 * 10**9 + ns
    sys.stdout.buffer.write(struct.pack("<IIII", stamp // 10**9, stamp % 10**9, CAPTURED, HEADERS + PAYLOAD) + frame)
