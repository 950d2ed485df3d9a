"""Damages one field of an input of known content, and requires that it shows.

  damaged_fields.py table        the rows of TABLE: a refusal with its place, a note, or the known difference
  damaged_fields.py everywhere   each word and line of each text, each key of JSON, each field of what is binary:
                                 what is printed is not what it was, but for what FREE lets differ
"""
import concurrent.futures
import json
import os
import re
import struct
import subprocess
import sys
import tempfile

TAILBACK = os.environ["TAILBACK"]
SOURCE = os.environ["TB_SOURCE"]
DATA = SOURCE + "/tests/data/"


def data(name):
    with open(DATA + name, "rb") as file:
        return file.read()


# Inputs of known content.

def frame(source, destination, n):
    """A UDP datagram of n bytes between 10.0.0.source and 10.0.0.destination."""
    ip = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 28 + n, 0, 0, 64, 17, 0, bytes([10, 0, 0, source]),
                     bytes([10, 0, 0, destination]))
    total = sum(struct.unpack(">10H", ip))
    total = (total & 0xffff) + (total >> 16)
    ip = ip[:10] + struct.pack(">H", ~total & 0xffff) + ip[12:]
    udp = struct.pack(">HHHH", 5000 + source, 5000 + destination, 8 + n, 0)
    mac = bytes([2, 0, 0, 0, 0, destination, 2, 0, 0, 0, 0, source])
    return mac + b"\x08\x00" + ip + udp + bytes(n)


FRAMES = [frame(1, 2, 100), frame(2, 1, 300), frame(1, 2, 500)]


def pcap():
    text = struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 1)
    for i, packet in enumerate(FRAMES):
        text += struct.pack("<IIII", 1764237600, 1000 * i, len(packet), len(packet)) + packet
    return text


def block(kind, body):
    body += bytes(-len(body) % 4)
    return struct.pack("<II", kind, len(body) + 12) + body + struct.pack("<I", len(body) + 12)


def pcapng():
    text = block(0x0a0d0d0a, struct.pack("<IHHq", 0x1a2b3c4d, 1, 0, -1))
    text += block(1, struct.pack("<HHIHHBxxxHH", 1, 0, 65535, 9, 1, 9, 0, 0))  # if_tsresol: ns
    for i, packet in enumerate(FRAMES):
        at = 1764237600 * 10**9 + 1000000 * i
        text += block(6, struct.pack("<IIIII", 0, at >> 32, at & 0xffffffff, len(packet), len(packet)) + packet)
    return text


GOAL = b"""num_ranks 2
rank 0 {
l1: calc 100
l2: send 4096b to 1 tag 3
l2 requires l1
l3: recv 8b from 1 tag 4
l3 irequires l2
}
rank 1 {
l1: recv 4096b from 0 tag 3
l2: send 8b to 0 tag 4 cpu 1
l2 requires l1
}
"""
FLOWS = b"""Nodes 4
Connections 3
Triggers 1
2->1 id 1 start 0 size 2000000 send_done_trigger 1
2->3 id 2 trigger 1 size 2000000
0->1 id 3 start 2500500 size 64
trigger id 1 oneshot
"""
PARAVER = b"""#Paraver (01/01/2026 at 00:00):1000_ns:2(1,1):1:2(1:1,1:2),1
c:1:7:2:1:2
2:1:1:1:1:100:50000001:3
2:1:1:1:1:110:50000001:0
2:2:1:2:1:100:50000001:4
2:2:1:2:1:290:50000001:0
3:1:1:1:1:100:105:2:1:2:1:100:290:4096:7
2:1:1:1:1:300:50000002:8:50100002:64:50100004:7
2:1:1:1:1:400:50000002:0
2:2:1:2:1:300:50000002:8:50100002:64:50100004:7
2:2:1:2:1:400:50000002:0
"""
EDGES = b"""switch sw2
host n1
sw1 1 n1 1 100Gbit/s 5ns
sw1 2 n2 1 100Gbit/s 5ns
sw1 3 sw2 1 200Gbit/s 10ns
sw2 2 n3 1 100Gbit/s 5ns
sw2 3 n4 1 100Gbit/s 5ns
"""
HTSIM = b"""Nodes 8
Tiers 3
Podsize 4
Tier 0
Downlink_speed_Gbps 200
Radix_Down 2
Radix_Up 2
Downlink_Latency_ns 300
Switch_Latency_ns 200
Tier 1
Downlink_speed_Gbps 200
Radix_Down 2
Radix_Up 4
Downlink_Latency_ns 500
Tier 2
Downlink_speed_Gbps 100
Radix_Down 4
Bundle 2
Downlink_Latency_ns 1000
"""
IBSIM = b"""width=2
extspeed=4
Switch 3 "leaf0"
[1] "n0"[1]
[2] "n1"[1]
[3] "leaf1"[3]

Switch 3 "leaf1"
[1] "n2"[1]
[2] "n3"[1] w=16
[3] "leaf0"[3]
"""
SLURM = b"""SwitchName=leaf0 Nodes=n[00-03]
SwitchName=leaf1 Nodes=n[04-07] LinkSpeed=100Gbit/s
SwitchName=spine Switches=leaf[0-1]
"""
IBNETDISCOVER = b"""switchguid=0xa0(a0)
Switch\t3 "S-00000000000000a0"\t# "leaf 1" base port 0 lid 1 lmc 0
[1]\t"H-00000000000000c0"[1](c1)\t# "n1 mlx5_0" lid 3 4xHDR
[2]\t"S-00000000000000b0"[1]\t# "leaf 2" lid 2 4xHDR

switchguid=0xb0(b0)
Switch\t3 "S-00000000000000b0"\t# "leaf 2" base port 0 lid 2 lmc 0
[1]\t"S-00000000000000a0"[2]\t# "leaf 1" lid 1 4xHDR
[2]\t"H-00000000000000e0"[1](e1)\t# "n2 mlx5_0" lid 5 4xHDR
"""
TWO_LEVELS = b"""s0 1 n0 1
s0 2 n1 1
s0 3 t0 1
s1 1 n2 1
s1 2 n3 1
s1 3 t0 2
"""
TABLES = b"""Unicast lids [0x0-0x5] of switch Lid 1 guid 0x00000000000000a0 (leaf 1):
  Lid  Out   Destination
       Port     Info
0x0003 001 : (Channel Adapter portguid 0x00000000000000c1: 'n1 mlx5_0')
0x0005 002 : (Channel Adapter portguid 0x00000000000000e1: 'n2 mlx5_0')
2 valid lids dumped
Unicast lids [0x0-0x5] of switch Lid 2 guid 0x00000000000000b0 (leaf 2):
  Lid  Out   Destination
       Port     Info
0x0003 001 : (Channel Adapter portguid 0x00000000000000c1: 'n1 mlx5_0')
0x0005 002 : (Channel Adapter portguid 0x00000000000000e1: 'n2 mlx5_0')
2 valid lids dumped
"""
FOUR_HOSTS = b"sw 1 n1 1\nsw 2 n2 1\nsw 3 n3 1\nsw 4 n4 1\n"
THREE_RANKS = b"""num_ranks 3
rank 0 {
send 8b to 1
}
rank 1 {
recv 8b from 0
}
rank 2 {
calc 5
}
"""
PERFQUERY = b"""# Port extended counters: Lid 1 port 1 (CapMask: 0x5300 CapMask2: 0x0000002)
PortSelect:......................1
CounterSelect:...................0x0000
PortXmitData:....................4000000
PortRcvData:.....................1000
PortXmitPkts:....................4000
PortRcvPkts:.....................12
SymbolErrorCounter:..............7
PortXmitWait:....................42
"""
UFM = b"""timestamp,source_id,node_guid,port_guid,port_num,node_description,PortXmitDataExtended,PortRcvDataExtended,PortXmitWaitExtended,SymbolErrorCounterExtended
1764237600000000,x,0x00000000000000a0,0x00000000000000a0,1,leaf 1,100,200,300,4
"""
EXPORTER = b"""infiniband_switch_port_transmit_wait_total{guid="0x00000000000000a0",port="1"} 2.2730501e+07 1764237600000
infiniband_switch_port_transmit_data_bytes_total{guid="0x00000000000000a0",port="1"} 4096 1764237600000
"""


def preset():
    lines = []
    with open(SOURCE + "/schemas/ib-edr.ini", encoding="utf-8") as file:
        for line in file:
            line = re.sub(r"\s*;.*", "", line).strip()
            if line:
                lines.append(line)
    return ("\n".join(lines) + "\n").encode()


class Reader:
    """How a reader's input is shown: commands, of which "SQL ..." asks the store that one of them wrote. `free`:
    regular expressions on "LINE|TEXT|DAMAGE", of damages that need not show, and why that is so."""

    def __init__(self, target, content, commands, others=None, free=(), made_by=None):
        self.target, self.content, self.commands = target, content, commands
        self.made_by = made_by  # makes the file of the content
        self.others, self.free = others or {}, [re.compile(expression) for expression in free]


def job(name, content, *free, **others):
    return Reader(name, content, [f"info --json {name}", f"convert {name} -o -"], free=free, **others)


def fabric(content, *free, preset_name="ib-hdr"):
    return Reader("fabric", content, [f"network -n fabric,preset={preset_name} -f json",
                                      f"network -n fabric,preset={preset_name} -f edges"], free=free)


def counters(content, *free):
    return Reader("dump", content, ["counters dump -n fabric --interval 1s -o store.db", "SQL SELECT * FROM note",
                                    "SQL SELECT * FROM link_total", "SQL SELECT * FROM link_count"],
                  {"fabric": IBNETDISCOVER}, free)


def of_sql(path, text):
    subprocess.run(["sqlite3", path], input=text, check=True)


def of_schema(path, text):
    with open(SOURCE + "/schemas/results.sql", "rb") as file:
        of_sql(path, file.read() + text)


def ranks(name, first, second):
    """A trace of a file for each of two ranks."""
    names = name.format(0), name.format(1)
    return Reader(names[0], first, [f"info --json {names[0]} {names[1]}", f"convert {names[0]} {names[1]} -o -"],
                  {names[1]: second})


OTF2 = ["traces.otf2", "traces.def", "traces/0.def", "traces/0.evt", "traces/1.def", "traces/1.evt"]

READERS = {
    "kineto": ranks("rank{}.json", data("recorded/kineto_rank0.json"), data("recorded/kineto_rank1.json")),
    "chakra": ranks("job.{}.json", data("recorded/chakra.0.json"), data("recorded/chakra.1.json")),
    "tbt": job("job.tbt", data("recorded/job.tbt")),
    "otf2": Reader("traces/0.evt", data("recorded/otf2/traces/0.evt"),
                   ["info --json traces.otf2", "convert traces.otf2 -o -"],
                   {name: data("recorded/otf2/" + name) for name in OTF2 if name != "traces/0.evt"}),
    "nsys": Reader("job.sqlite", data("nsys_two_ranks.sql"), ["info --json job.sqlite", "convert job.sqlite -o -"],
                   made_by=of_sql),
    "store": Reader("run.db", data("small_run.sql"), ["report run.db -f json"], made_by=of_schema),
    "capture": Reader("capture.pcap", pcap(), ["info --json capture.pcap"]),
    "pcapng": Reader("capture.pcapng", pcapng(), ["info --json capture.pcapng"]),
    # Labels that nothing refers to.
    "goal": job("job.goal", GOAL, r"^7\|l3\|", r"\|l2: send 8b.*\|"),
    # Ids of flows are only for their writer, and how many there are need not be declared.
    "flows": job("job.cm", FLOWS, r"^[456]\|id \d+\|", r"^[23]\|.*\|without"),
    # The date; processors and times at which a message physically left and came; its tag.
    "paraver": job("job.prv", PARAVER, r"^1\|.*\|"),
    "nccl": job("job.log", data("nccl/two-hosts.log")),
    # A kind that the cables show too.
    "edges": fabric(EDGES, r"^[12]\|.*\|(twice|without)"),
    "htsim": fabric(HTSIM, preset_name="roce-100"),
    "ibsim": fabric(IBSIM, r"^[12]\|.*\|(twice|without)"),
    "slurm": fabric(SLURM),
    "ibnetdiscover": fabric(IBNETDISCOVER),
    "preset": Reader("net.ini", preset(), ["network -n net.ini -f ini"]),
    "tables": Reader("tables", TABLES, ["network -n fabric,preset=ib-hdr --routes tables -f json",
                                        "network -n fabric,preset=ib-hdr --routes tables -f lfts"],
                     {"fabric": IBNETDISCOVER}),
    "roots": Reader("roots", b"t0\n", ["network -n fabric,preset=ib-hdr,roots=roots -f json"], {"fabric": TWO_LEVELS}, ["twice"]),
    "names": Reader("names", b'0x00000000000000a0 "edge 1"\n0x00000000000000b0 "edge 2"\n',
                    ["network -n fabric,preset=ib-hdr --node-name-map names -f edges"], {"fabric": IBNETDISCOVER}, ["twice"]),
    "hosts": Reader("hosts", b"n4 slots=1\nn2\nn1:1\n",
                    ["replay -q --job job.goal,hosts=hosts -n fabric,preset=ib-hdr -o run.db", "SQL SELECT * FROM job_node"],
                    {"fabric": FOUR_HOSTS, "job.goal": THREE_RANKS}, [r"^3\|n1:1\|"]),  # slots that no rank needs
    "ranks": Reader("map", b"0 3\n1 2\n2 5\n",
                    ["replay -q job.goal --map map -n qsnet,levels=2 -o run.db", "SQL SELECT * FROM job_node"],
                    {"job.goal": THREE_RANKS}),
    "faults": Reader("faults", b"link=0.1:4\nswitch=1.2@12ms\nlink=node 5@1us\n",
                     ["replay -q job.goal --fault-file faults -n qsnet,levels=2 -o run.db", "SQL SELECT * FROM fault"],
                     {"job.goal": THREE_RANKS}),
    "perfquery": counters(PERFQUERY),
    "ufm": counters(UFM),
    "exporter": counters(EXPORTER),
}
# Those of which every word counts. Tables and dumps of counters are full of remarks, presets of keys that stand for
# what holds without them.
TEXTS = ["goal", "flows", "paraver", "edges", "htsim", "ibsim", "slurm", "roots", "names", "hosts", "ranks", "faults"]


def said_by(reader, content):
    """Of one command after another: its exit code, what it prints, and its notes and errors."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in {**reader.others, reader.target: content}.items():
            path = f"{folder}/{name}"
            os.makedirs(os.path.dirname(path), exist_ok=True)
            if name == reader.target and reader.made_by:
                reader.made_by(path, text)
                continue
            with open(path, "wb") as file:
                file.write(text)
        for command in reader.commands:
            if command.startswith("SQL "):
                stores = [name for name in os.listdir(folder) if name.endswith(".db")]
                run = ["sqlite3", "-readonly", stores[0], command[4:]] if stores else ["false"]
            else:
                run = [TAILBACK] + command.split()
            done = subprocess.run(run, cwd=folder, capture_output=True, timeout=300, check=False)
            yield done.returncode, done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace")


def show(reader, content):
    """What the commands print and return, and the text of all notes and errors."""
    return list(said_by(reader, content))


def is_seen(reader, content, whole):
    """Whether a command says something else than of the undamaged input; those after it are not run."""
    return any(now != before for now, before in zip(said_by(reader, content), whole))


WORD = re.compile(rb"[A-Za-z_]+|0x[0-9a-fA-F]+|\d+|\s+|.", re.S)


def damages(content):
    """(LINE|TEXT|WORD|DAMAGE, the damaged text), for each word and line."""
    words = WORD.findall(content)
    lines = content.split(b"\n")
    line = 0
    for i, word in enumerate(words):
        def instead(other):
            return b"".join(words[:i]) + other + b"".join(words[i + 1:])
        where = f"{line + 1}|{lines[line].decode()}|{word.decode()}"
        line += word.count(b"\n")
        if word.isspace():
            continue
        if word[:1].isdigit():
            yield where + "|negative", instead(b"-" + word)
            yield where + "|huge", instead(b"99999999999999999999999")
            yield where + "|a word", instead(b"zz")
            yield where + "|a letter more", instead(word + b"x")
        elif word.isalpha() or b"_" in word:
            yield where + "|misspelt", instead(word + b"q")
        yield where + "|gone", instead(b"")
    for i, text in enumerate(lines):
        if text.strip():
            where = f"{i + 1}|{text.decode()}||"
            yield where + "twice", b"\n".join(lines[:i + 1] + lines[i:])
            yield where + "without", b"\n".join(lines[:i] + lines[i + 1:])
            yield where + "more", b"\n".join(lines[:i] + [text + b" zork 5"] + lines[i + 1:])
            yield where + "cut off", b"\n".join(lines[:i] + [text[:len(text) // 2]])


def everywhere(names):
    failed = 0
    for name in names:
        reader = READERS[name]
        whole = show(reader, reader.content)
        if any(code for code, _, _ in whole):
            print(f"{name}: the undamaged input is refused: {whole}")
            failed += 1
            continue
        cases = [case for case in damages(reader.content) if case[1] != reader.content and
                 not any(free.search(case[0]) for free in reader.free)]
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            seen = list(pool.map(lambda case: is_seen(reader, case[1], whole), cases))
        silent = [case[0] for case, is_noticed in zip(cases, seen) if not is_noticed]
        print(f"{name}: {len(cases)} damages, {len(silent)} unseen")
        for where in silent:
            print("  " + where)
        failed += len(silent)
    return failed


# Rows: reader, what is damaged, from what, to what (bytes of the content, or an offset and bytes), and what has to
# happen: "refused PATTERN" of the sentence behind "tailback: FILE", "note PATTERN" of what is printed more, or
# "KEY=VALUE", a figure of the first command's JSON.
RECORD = 24, 24 + 16 + len(FRAMES[0]), 24 + 32 + len(FRAMES[0]) + len(FRAMES[1])
IP = RECORD[1] + 16 + 14


def at(offset, kind, *values):
    return offset, struct.pack(kind, *values)


TABLE = [
    ("capture", "magic number", *at(0, "<I", 0xdeadbeef), "refused : neither a store nor a packet capture"),
    ("capture", "version", *at(4, "<H", 9), "refused : the capture's header is broken"),
    ("capture", "link type", *at(20, "<I", 9999), "refused : link type 9999 is not read"),
    ("capture", "a second of 2,000 s", *at(RECORD[1] + 4, "<I", 2000000000), "refused : record 2: .*a second"),
    ("capture", "captured length, huge", *at(RECORD[1] + 8, "<I", 0xffffffff), "refused : record 2: the record is broken"),
    ("capture", "captured length of the last", *at(RECORD[2] + 8, "<I", 5000), "refused : record 3: .*mid-packet"),
    ("capture", "wire length", *at(RECORD[1] + 12, "<I", 1000), "truncated_records=1"),
    ("capture", "IP version", *at(IP, "B", 0x55), "undecodable=1"),
    ("capture", "IP header length", *at(IP, "B", 0x41), "undecodable=1"),
    ("capture", "UDP length", *at(IP + 24, ">H", 4), "undecodable=1"),
    ("capture", "Ethernet type", *at(IP - 2, ">H", 0x1234), "nodes=4"),
    ("capture", "a record twice", None, pcap()[:RECORD[2]] + pcap()[RECORD[1]:], "records=4"),
    ("capture", "two records swapped", None, pcap()[:RECORD[1]] + pcap()[RECORD[2]:] + pcap()[RECORD[1]:RECORD[2]],
     "reordered=1"),
    ("capture", "cut off in a header", None, pcap()[:RECORD[1] + 8], "refused : record 2: .*mid-packet"),
    ("pcapng", "a block's second length", -4, b"\x01\x00\x00\x00", "refused "),
    ("pcapng", "byte order", 8, b"abcd", "refused "),
    ("pcapng", "interface that is not described", 28 + 32 + 8, b"\x07", "refused "),
    ("kineto", "rank, negative", b'"rank": 0', b'"rank": -1', "refused : .*no number of a rank"),
    ("kineto", "elements, negative", b"nelems\": 1000", b"nelems\": -5", "refused : 'In msg nelems'"),
    ("kineto", "type of elements", b"Float", b"Flaot", "refused : .*'Flaot'"),
    ("kineto", "duration, negative", b'"dur": 81', b'"dur": -81', "refused : offset 228: "),
    ("kineto", "time, missing", b'"ts": 150, ', b"", "refused : offset 228: "),
    ("kineto", "cut off", None, data("recorded/kineto_rank0.json")[:600], "refused : offset 600: "),
    ("chakra", "id twice", b'"id": "2"', b'"id": "1"', "refused : record 2: "),
    ("chakra", "a node that there is not", b'["1"]', b'["9"]', "refused : record 2: .*depends on node 9"),
    ("chakra", "size, negative", b'"4096"', b'"-4096"', "refused : record 2: .*-4096"),
    ("chakra", "type of node", b"COMM_COLL_NODE", b"COMM_CULL_NODE", "refused : record 2: "),
    ("chakra", "kind of collective", b'_type", "int64Val": "0"', b'_type", "int64Val": "77"', "refused : record 2: "),
    ("nccl", "rank out of range", b"rank 3 nranks 4", b"rank 9 nranks 4", "refused :8: rank 9"),
    ("nccl", "count, negative", b"count 1048576", b"count -5", "refused :23: "),
    ("nccl", "type of elements", b"datatype 7", b"datatype 77", "refused :23: "),
    ("nccl", "root out of range", b"root 3 comm", b"root 9 comm", "refused :28: "),
    ("tbt", "cut off", None, data("recorded/job.tbt")[:100], "refused : offset 100: "),
    ("tbt", "magic number", 0, b"x", "refused : neither a store"),
    ("otf2", "cut off", None, data("recorded/otf2/traces/0.evt")[:88], "refused : .*break off after 5 of 12"),
    ("nsys", "size, negative", b"1,4096,77", b"1,-4096,77", "refused : rank 1 at .* finds no send"),
    ("nsys", "size of one end", b"1,4096,77", b"1,4095,77", "bytes=12415"),
    ("nsys", "end before begin", b"(1000,1010,", b"(1000,900,", "refused : its table MPI_P2P_EVENTS has a row"),
    ("store", "time, negative", b"COMMIT;", b"UPDATE run SET simulated_ps = -1; COMMIT;", "refused : is damaged"),
    ("store", "version", b"COMMIT;", b"PRAGMA user_version = 99; COMMIT;", "refused : is a store of version 99"),
    ("store", "a link that there is not", b"COMMIT;", b"UPDATE root_total SET root = 999 WHERE root = (SELECT max(root) FROM root_total); COMMIT;", "refused : is damaged"),
    ("goal", "ranks, fewer", b"num_ranks 2", b"num_ranks 1", "refused :4: rank 1 is out of range"),
    ("goal", "ranks, negative", b"num_ranks 2", b"num_ranks -2", "refused :1: "),
    ("goal", "peer that there is not", b"to 1 tag 3", b"to 7 tag 3", "refused :4: "),
    ("goal", "size, negative", b"send 4096b", b"send -4096b", "refused :4: "),
    ("goal", "size of one end", b"send 4096b", b"send 4097b", "refused "),
    ("goal", "label that there is not", b"l2 requires l1", b"l2 requires l9", "refused :5: "),
    ("goal", "unit", b"4096b to", b"4096q to", "refused :4: "),
    ("goal", "open brace", b"}\nrank 1", b"rank 1", "refused :8: "),
    ("flows", "number of flows", b"Connections 3", b"Connections 4", "refused : declares 'Connections 4'"),
    ("flows", "a flow's id twice", b"id 2", b"id 1", "refused :5: the flow of line 4 has id 1 too"),
    ("flows", "a word twice", b"size 64", b"size 64 size 65", "refused :6: 'size' stands here a second time"),
    ("flows", "more on a line", b"Nodes 4", b"Nodes 4 5", "refused :1: '5': expected nothing more"),
    ("flows", "trigger's id", b"trigger id 1", b"trigger id 7", "refused :5: .*trigger 1, which is not declared"),
    ("flows", "size, huge", b"size 64", b"size 99999999999999999999", "refused :6: "),
    ("paraver", "processors of the nodes", b"2(1,1)", b"2(1)", "refused :1: expected the processors of 2 nodes"),
    ("paraver", "node of a task", b"1:1,1:2)", b"1:1,1:3)", "refused :1: task 2"),
    ("paraver", "communicators", b"1:2),1", b"1:2),2", "note communicators: the header declares 2, there are 1"),
    ("paraver", "processor of a record", b"2:1:1:1:1:100", b"2:9:1:1:1:100", "refused :3: processor 9 of 2"),
    ("paraver", "an end twice", b"2:1:1:1:1:110:50000001:0\n", b"2:1:1:1:1:110:50000001:0\n" * 2,
     "note 1 MPI call without begin or end"),
    ("paraver", "unit of time", b"1000_ns", b"1000_xs", "refused :1: a unit of time"),
    ("edges", "a host without a cable", b"host n1", b"host n9", "note line 2: n9"),
    ("edges", "a port twice", b"sw1 2 n2", b"sw1 1 n2", "refused :4: "),
    ("edges", "unit", b"100Gbit/s 5ns\nsw1 2", b"100Gbit 5ns\nsw1 2", "refused :3: "),
    ("htsim", "more on a line", b"Tier 1", b"Tier 1 2", "refused :10: '2': expected nothing behind Tier 1"),
    ("htsim", "an unknown key", b"Bundle", b"Bundel", "refused :18: 'Bundel' is no key of a tier"),
    ("htsim", "a number that does not fit the rest", b"Nodes 8", b"Nodes 9", "refused .*Nodes 9 is no multiple"),
    ("ibsim", "ports, with a letter", b"Switch 3 \"leaf0", b"Switch 3x \"leaf0", "refused :3: "),
    ("ibsim", "mask, negative", b"w=16", b"w=-16", "refused :10: '-16': expected a mask"),
    ("ibsim", "mask, a word", b"width=2", b"width=two", "refused :1: 'two': expected a mask"),
    ("ibsim", "more on a line", b"\"n1\"[1]", b"\"n1\"[1] zork", "refused :5: 'zork': expected nothing more"),
    ("slurm", "an unknown key", b"LinkSpeed", b"LinkSped", "refused :2: "),
    ("ibnetdiscover", "a port twice", b"[2]\t\"S", b"[1]\t\"S", "refused :4: "),
    ("ibnetdiscover", "ports, fewer", b"Switch\t3 \"S-00000000000000a0", b"Switch\t1 \"S-00000000000000a0", "refused :4: "),
    ("preset", "an unknown key", b"payload = 4096", b"payloda = 4096", "refused .*payloda is no key"),
    ("preset", "unit", b"rate = 100Gbit/s", b"rate = 100Gbat/s", "refused "),
    ("preset", "rate, negative", b"rate = 100Gbit/s", b"rate = -100Gbit/s", "refused "),
    ("preset", "a key twice", b"levels = 2\n", b"levels = 2\nlevels = 3\n", "refused :7: levels stands in .network. a second time"),
    ("roots", "a switch that there is not", b"t0", b"t0\nt7", "note t7"),
    ("names", "more on a line", b"\"edge 1\"", b"\"edge 1\" zork", "refused :1: expected a GUID and a name"),
    ("names", "an open quote", b"\"edge 1\"", b"\"edge 1", "refused :1: expected a GUID and a name"),
    ("names", "a GUID that there is not", b"00a0", b"00a7", "note 0x00000000000000a7"),
    ("hosts", "a misspelt key", b"slots=1", b"slost=1", "refused :1: 'slost=1' behind the host"),
    ("hosts", "slots, negative", b"slots=1", b"slots=-1", "refused :1: "),
    ("hosts", "a host that there is not", b"n2", b"n9", "refused :2: 'n9' is no host"),
    ("ranks", "a rank twice", b"1 2", b"0 2", "refused :2: "),
    ("ranks", "a node that there is not", b"1 2", b"1 99", "refused "),
    ("faults", "a port that there is not", b"0.1:4", b"0.1:99", "refused "),
    ("faults", "unit", b"12ms", b"12mx", "refused "),
    ("tables", "a LID that there is not", b"0x0003 001", b"0x99999 001", "note first is 0x99999 in line 4"),
    ("tables", "a port that there is not", b"0x0003 001", b"0x0003 099", "refused "),
    ("perfquery", "a count, negative", b"4000000", b"-4000000", "refused "),
    ("perfquery", "a LID that there is not", b"Lid 1", b"Lid 77", "refused "),
    ("ufm", "a count that is a word", b",100,", b",many,", "refused "),
    ("exporter", "an open label", b'a0",port', b"a0,port", "refused "),
]


def figure(shown, key):
    value = json.loads(shown[0][1])
    for part in key.split("."):
        value = value[part]
    return value


def holds(reader, whole, content, expected):
    shown = show(reader, content)
    codes, said = [code for code, _, _ in shown], "".join(error for _, _, error in shown)
    kind, _, pattern = expected.partition(" ")
    if kind == "refused":
        fine = any(code in (1, 2) for code in codes) and re.search("tailback: " + re.escape(reader.target) + pattern, said)
    elif kind == "note":
        before = "".join(text + error for _, text, error in whole)
        now = "".join(text + error for _, text, error in shown)
        fine = not any(codes) and re.search(pattern, now) and not re.search(pattern, before)
    else:
        key, _, value = expected.partition("=")
        fine = codes[0] == 0 and str(figure(shown, key)) == value and str(figure(whole, key)) != value
    return None if fine else f"expected {expected}, and it is {codes} {said.strip()[:300]}"


def damaged(content, old, new):
    if old is None:
        return new
    if isinstance(old, int):
        old = old % len(content)
        return content[:old] + new + content[old + len(new):]
    assert content.count(old) == 1 or content.find(old) >= 0, old
    return content.replace(old, new, 1)


def table():
    whole = {name: show(reader, reader.content) for name, reader in READERS.items()}
    failed = 0
    for name, shown in whole.items():
        if any(code for code, _, _ in shown):
            print(f"{name}: the undamaged input is refused: {shown}")
            failed += 1
    for name, what, old, new, expected in TABLE:
        reader = READERS[name]
        wrong = holds(reader, whole[name], damaged(reader.content, old, new), expected)
        if wrong:
            print(f"{name}, {what}: {wrong}")
            failed += 1
    print(f"{len(TABLE)} damages of {len(READERS)} readers")
    return failed


if __name__ == "__main__":
    sys.exit(1 if (table() if sys.argv[1] == "table" else everywhere(sys.argv[2:] or TEXTS)) else 0)
