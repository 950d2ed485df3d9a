# The report on paper: an answer page, then the evidence. Every page has its number, a list that goes on over pages has
# its heading and titles on each, no text is cut, and the configuration comes last.
set -euo pipefail
command -v pdftotext >/dev/null || { echo "skipped: pdftotext is not installed (poppler-utils)"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'echo "line $LINENO: $BASH_COMMAND"; cat said 2>/dev/null' ERR
cd "$work"

long=a-job-whose-name-has-to-break-into-lines-as-it-is-longer-than-any-column-of-a-list-may-be
"$TAILBACK" synth bit-reversal --nodes 64 --message 16K --messages 4 -o $long.goal
"$TAILBACK" replay $long.goal -q -o run.db
"$TAILBACK" report run.db -o short.pdf
"$TAILBACK" report run.db --full --top 90 -o full.pdf
"$TAILBACK" report run.db --full --top 90 -o again.pdf
cmp full.pdf again.pdf
"$TAILBACK" report run.db -f csv --top 90 >links.csv
"$TAILBACK" report run.db -f json --top 90 >run.json
code=0
"$TAILBACK" report run.db --full -o run.html 2>said || code=$?
[[ $code == 2 ]]
grep -q -- '--full is for text and PDF' said
pdftotext -layout short.pdf short.txt
pdftotext -layout full.pdf full.txt
pdftotext -raw full.pdf raw.txt
# A large network, too: its matrix has room on the page of answers, with numbers.
"$TAILBACK" synth uniform --nodes 1024 --message 4K --messages 1 -o large.goal
"$TAILBACK" replay large.goal -n ib-hdr,arity=16,levels=3 -q -o large.db
"$TAILBACK" report large.db --full -o large.pdf
pdftotext -layout large.pdf large.txt
# Two jobs: many findings; their matrix may need a page of its own.
"$TAILBACK" synth uniform --nodes 16 --message 64K --messages 4 -o melt.goal
"$TAILBACK" replay --job melt.goal,placement=cyclic --job melt.goal,start=200us,placement=cyclic,name=late --alone -q -o jobs.db
"$TAILBACK" report jobs.db -o jobs.pdf
pdftotext -layout jobs.pdf jobs.txt
[[ $(grep -cE 'page 1 of [12]$' jobs.txt) == 1 ]]
grep -q 'Congestion matrix' jobs.txt
grep -A4 'How long the jobs take' jobs.txt | grep -q '^ *late  *200 us '
# In full, too, that page is not left half empty for a matrix with numbers, which has the next.
"$TAILBACK" report jobs.db --full -o jobs-full.pdf
pdftotext -layout jobs-full.pdf jobs-full.txt
# Where nothing waited there is no matrix to see: the page has lists, and the evidence follows on it.
"$TAILBACK" replay "$TB_SOURCE/tests/data/ring8" -n ib-ndr -q -o ring.db
"$TAILBACK" report ring.db -o ring.pdf
"$TAILBACK" report ring.db --full -o ring-full.pdf
pdftotext -layout ring.pdf ring.txt
pdftotext -layout ring-full.pdf ring-full.txt
# Hosts and switches with long names.
rack=datahall-north-row-12-rack-0042-chassis-17-node-
sed "s/\"n\([0-9]*\) mlx5/\"$rack\1.hpc.example.org mlx5/; s/MF0;leaf/MF0;a-switch-of-the-north-hall-row-12-/" \
	"$TB_SOURCE/tests/data/two_leaves.ibnetdiscover" >named.ibnetdiscover
"$TAILBACK" synth alltoall -n 3 --size 256K -o three.goal
"$TAILBACK" replay three.goal -n named.ibnetdiscover,preset=ib-ndr -q -o named.db 2>said
"$TAILBACK" report named.db --full -o named.pdf
pdftotext -layout named.pdf named.txt
# Those of a real fabric.
"$TAILBACK" synth alltoall --nodes 64 --size 64K -o hosts.goal
"$TAILBACK" replay hosts.goal -n "$TB_SOURCE/tests/data/dgx-ndr.ibnetdiscover.zst" -q -o fabric.db 2>said
"$TAILBACK" report fabric.db --full -o fabric.pdf
pdftotext -layout fabric.pdf fabric.txt
# A comparison.
"$TAILBACK" replay $long.goal -n qsnet,ascent=deterministic -q -o run.db
"$TAILBACK" compare run.db -o change.pdf
"$TAILBACK" compare run.db -f json --top 10 >change.json
pdftotext -layout change.pdf change.txt
pdftotext -raw change.pdf change-raw.txt
"$TAILBACK" report run.db --run 1 -o again.pdf
cmp short.pdf again.pdf
for document in short full large jobs jobs-full ring-full named change; do
	pdftotext -bbox $document.pdf $document.html
done

python3 - "$long" <<'END'
import csv, json, re, sys
long = sys.argv[1]
def pages(name):
    found = open(name).read().split("\f")
    return found[:-1] if not found[-1].strip() else found
short, full, large = pages("short.txt"), pages("full.txt"), pages("large.txt")
jobs_full, ring, ring_full = pages("jobs-full.txt"), pages("ring.txt"), pages("ring-full.txt")
named, change, fabric = pages("named.txt"), pages("change.txt"), pages("fabric.txt")
for document in short, full, large, jobs_full, ring, ring_full, named, change:
    for i, page in enumerate(document):
        assert f"page {i + 1} of {len(document)}" in page, page
        cut = page.replace("Tailback", "").replace(",...", "").split("page ")[0] # nodes of a job are abridged
        assert "..." not in cut or i == 0 or document is change, page
assert len(short) == 1 and len(full) > 5 and len(large) >= 3
for part in "Findings", "Worth trying", "Hot links", "Congestion matrix":
    assert part in short[0] and part in full[0], part
assert not any("Findings" in page for page in full[1:]) # not said twice
assert "Longest" in short[0] and "Packets/s" not in short[0] # the columns that have room

# Each list: on every page that has rows of it, its heading and its titles.
links = [row["name"] for row in csv.DictReader(open("links.csv"))]
assert len(links) == 90
begun = next(i for i, page in enumerate(full) if i > 0 and "Hot links" in page)
ended = next(i for i, page in enumerate(full) if i > 0 and "\nSwitches" in "\n" + page)
assert ended > begun
if full[ended].lstrip().startswith("Switches"): # the list filled the page before
    ended -= 1
for i in range(begun, ended + 1):
    rows = [link for link in links if link in full[i].split("Switches")[0]]
    assert rows
    heading = "Hot links by wait of packets that came by it"
    assert (heading + " (continued)" if i > begun else heading) in full[i], full[i]
    # What has no room beside the others goes on below them, behind the names.
    assert ("Packets/s" in full[i] and "Blocked" in full[i]) or "packet" in full[i]
whole = "".join("".join(full).split())
for link in links:
    assert "".join(link.split()) in whole, link
# Titles that have no room on a page for one row would stand alone at its end.
for page in full:
    lines = [line.strip() for line in page.splitlines() if line.strip()]
    assert not any(lines[-2].startswith(t) for t in ("Hot links", "Root ", "Switch ", "At ", "Waits"))

# Nothing is cut: findings and the long name are there, however they break.
raw = "".join("".join(open("raw.txt").read().replace("\f", "")).split())
for finding in json.load(open("run.json"))["findings"]:
    assert "".join(finding["sentence"].split()) in raw, finding["sentence"]
    if finding["command"]:
        assert "".join(finding["command"].split()) in raw, finding["command"]
assert raw.count(long) >= 3
last = full[-1] if "Configuration" in full[-1] else "".join(full[-2:])
assert "SHA-256" in last[last.index("Configuration"):]
assert "\nWhere who waits" not in last[last.index("Configuration"):]
assert sum("Congestion matrix" in page for page in large) == 1 and "level 2 (top)" in large[0]
assert "8 a box" in large[0] and "2.0 +7" in large[0] and "every 16th" in large[0]
# Names of links have two lines of the page of answers, and columns give way; elsewhere three at most.
def rows_of(page, heading):
    return page.split(heading)[1].split("\n\n\n")[0].splitlines()
hottest = rows_of(fabric[0], "Hot links by wait for the link\n")
begins = [i for i, line in enumerate(hottest) if re.match(r" *\d ", line)]
assert len(begins) == 5 and all(b - a <= 2 for a, b in zip(begins, begins[1:])), hottest
bound = "\n".join(fabric).split("How good it could be")[1].split("Critical path")[0]
assert max(len(block.splitlines()) for block in bound.split("run ")[1:]) < 6, bound
assert sum("Wait over time" in page for page in full) == 1
assert all(len(page.split()) > 30 for page in full) # none is all but empty

# words_of gives the words of each page: their height and where they end, in points.
def words_of(name):
    found = []
    for page in open(name + ".html").read().split("<page ")[1:]:
        words = re.findall(r'yMin="([\d.]+)" xMax="[\d.]+" yMax="([\d.]+)">([^<]*)<', page)
        found.append([((float(end) - float(begin)) / 1.164, float(end), word) for begin, end, word in words])
    return found
for name in "short", "full", "large", "jobs", "jobs-full", "ring-full", "named", "change":
    document = words_of(name)
    assert all(x[1] < 842 - 20 for page in document for x in page)
    for i, page in enumerate(document):
        # A matrix on a part of a page has smaller figures, if they can be read.
        small = [x[2] for x in page if x[0] < 6.9]
        assert not small or "matrix" in (x[2] for x in page), (name, i, small[:9])
        assert all(x[0] > 5 for x in page), (name, i, min(page))
# No page but the last is half empty.
for name in "full", "jobs-full", "large", "named":
    for i, page in enumerate(words_of(name)[:-1]):
        assert max(x[1] for x in page if x[1] < 842 - 48) > 842 * 0.6, (name, i)
assert any("Congestion matrix" in page for page in jobs_full[:2])
assert len(ring) == 1 and "Critical path" in ring[0] and "Slowest flows" in ring[0]
assert "How good it could be" in ring_full[0] and not any("Congestion matrix" in page for page in ring + ring_full)
# What goes on on a page has its heading there.
headings = ["Findings", "Configuration", "Notes", "Slowest flows", "Where who waits", "Hot links", "Congestion roots", "Switches"]
for document in full, jobs_full, large, named:
    for page in document[1:]:
        first = next(line.strip() for line in page.splitlines() if line.strip())
        assert first[0].isupper() and not first.startswith(("MF0", "SHA")), first
    for page in document:
        assert not [line.strip() for line in page.splitlines() if line.strip()][-2].startswith(tuple(headings)), page
assert "Configuration (continued)" in "".join(full + jobs_full + large + named + ring_full)

# A comparison has the verdict, the settings and each link.
wanted = json.load(open("change.json"))
raw = "".join(open("change-raw.txt").read().replace("\f", "").split())
assert "".join(wanted["verdict"].split()) in raw
for link in wanted["links"]:
    assert "".join(link["name"].split()) in raw, link
assert "What changed" in change[0] and "What came of it" in change[0] and "What differs" in change[0] and "A run.db, run 1" in " ".join(change[0].split())
END

# Where texts begin and how large they are, in points; texts of pictures have other sizes.
python3 - <<'END'
import re, zlib
def places(name, font=rb"/f-\d-\d 1 Tf\n"):
    for stream in re.findall(rb"stream\r?\n(.*?)endstream", open(name, "rb").read(), re.S):
        try:
            text = zlib.decompress(stream)
        except zlib.error:
            continue
        found = re.findall(rb"([\d.]+) 0 0 -[\d.]+ ([\d.]+) ([\d.]+) Tm\n" + font + rb"\(?([^)\n]*)", text)
        if found:
            yield [(float(size), float(x), float(y), part.decode()) for size, x, y, part in found if float(size) * 2 % 1 == 0]
def sizes(page):
    return sorted({size for size, *_ in page})
short, jobs, full, large = (list(places(name + ".pdf")) for name in ("short", "jobs", "full", "large"))
for first in short[0], jobs[0], full[0], large[0]:
    assert sizes(first) == [7, 7.5, 8, 9, 10.5, 12, 16], sizes(first)
    assert [size for size, *_ in first[:2]] == [8, 16] # what it is, and the title
    assert {x for size, x, *_ in first if size == 9} == {52} # findings, behind their numbers
    assert {x for size, x, *_ in first if size in (8, 10.5, 16)} == {36}
    numbers = [(x, y) for size, x, y, part in first if size == 8 and part == "1"]
    sentences = [y for size, x, y, part in first if size == 9]
    assert numbers and all(any(0 < at - y < 1 for at in sentences) for x, y in numbers)
    figures = [(x, y) for size, x, y, part in first if size == 12]
    assert len(figures) == 5 # and the title's at the left
    assert all(any(size == 7 and at == x and 9.9 < below - y < 10 for size, at, below, part in first) for x, y in figures)
for name in "full", "large":
    for page in places(name + ".pdf", rb"(?:/f-\d-\d 1 Tf\n)?"): # the foot may have the font before it
        assert max((y, size) for size, x, y, part in page)[1] == 7
for document in full, large:
    assert all(sizes(page) == [7, 7.5, 10.5] for page in document[1:])
    names = [(y, part) for size, x, y, part in document[-1] if x == 36 and size == 7.5]
    begin = ([y for y, part in names if part == "input"] + [0])[0] # of the configuration, or what goes on of it
    names = [name for name in names if name[0] >= begin]
    values = {y for size, x, y, part in document[-1] if x == 156 and size == 7.5}
    assert names and all(y in values for y, part in names), names
    assert round(min(b - a for (a, _), (b, _) in zip(names, names[1:])), 3) == 11.5
END
