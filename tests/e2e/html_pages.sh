# Pages of HTML, of a report, a comparison and an expectation: the ending of the file asks for them; links lead somewhere, nothing is
# fetched, every row has its name and as many cells as there are titles, no column is empty, and buttons have their script. Where Chromium is
# installed: all columns have room in 1280 pixels, a phone need not be scrolled sideways but within lists, and printed pages have the titles
# of the lists that go on on them, and numbers.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'echo "line $LINENO: $BASH_COMMAND"' ERR
cd "$work"

"$TAILBACK" synth uniform --nodes 16 --message 64K --messages 4 -o melt.goal
for ascent in adaptive deterministic; do
	"$TAILBACK" replay -n "qsnet,ascent=$ascent" --job melt.goal,placement=cyclic --job 'melt.goal,start=200us,placement=cyclic,name=<late>' --alone -q -o jobs.db
done
"$TAILBACK" replay -n ib-hdr "$TB_SOURCE/tests/data/ring8" -q -o ring.db
"$TAILBACK" replay -n ib-hdr melt.goal -q -o credits.db
"$TAILBACK" report jobs.db -o jobs.html
"$TAILBACK" report ring.db -o ring.html
"$TAILBACK" report credits.db -o credits.html
# On paper no single row is left out for a line that says so; the answer comes first, as in text.
[[ $("$TAILBACK" report jobs.db -f html --top 7 | grep -c 'class="paper">6 of 7 rows') == 0 ]]
[[ $("$TAILBACK" report jobs.db -f html --top 8 | grep -c 'class="paper">6 of 8 rows') -gt 0 ]]
"$TAILBACK" report jobs.db --full | sed -n 's/^  - //p' | cut -c1-40 | sed -n 1,3p >order.txt
sed -n 's/^<li>//p' jobs.html | cut -c1-40 | sed -n 1,3p | cmp - order.txt
"$TAILBACK" compare jobs.db -o change.html
"$TAILBACK" compare jobs.db -f html --top 100 | cmp - change.html
"$TAILBACK" compare jobs.db -f json >change.json
deep=of/an/operator/with/folders/within/folders/and/a/name_that_does_not_break
mkdir -p $deep && cp "$TB_SOURCE/tests/data/benchmarks/nccl-two-hosts.txt" $deep
"$TAILBACK" expect $deep/nccl-two-hosts.txt -n ib-ndr -o expect.html

python3 - jobs.html ring.html credits.html change.html expect.html <<'END'
import html.parser, json, re, sys

class Page(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.ids, self.links, self.tables, self.tags, self.words = set(), [], [], [], []
        self.feed(text)
    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.tags.append(tag)
        self.ids.add(attrs.get("id"))
        assert not attrs.get("src") and tag != "link", tag
        if tag == "a":
            self.links.append(attrs["href"])
        elif tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("th", "td"):
            self.tables[-1][-1].append([attrs.get("scope"), attrs.get("class"), ""])
    def handle_data(self, data):
        if not self.tags:
            return
        self.words.append(data)
        if data.strip() and self.tags[-1] in ("td", "th", "button"):
            self.tables[-1][-1][-1][2] += data

pages = {name: Page(open(name).read()) for name in sys.argv[1:]}
for name, page in pages.items():
    assert all(link[0] == "#" and link[1:] in page.ids for link in page.links), (name, page.links)
    assert len(page.links) > 3 or name == "expect.html", name
    assert "script" in page.tags and page.tags.count("footer") == 1 and page.tables, name
    for head, *rows in page.tables:
        assert rows and all(len(row) == len(head) for row in rows)
        assert all(cell[0] == "col" for cell in head)
        for i, (_, kind, title) in enumerate(head):
            column = [row[i] for row in rows]
            named = kind == "lead"
            assert all((cell[0] == "row") == named for cell in column)
            # B may know what A does not.
            twin = [j for j in (i - 1, i + 1) if 0 <= j < len(head) and "In B" in (title, head[j][2])]
            assert any(cell[2] not in ("", "-") for cell in column) or twin, (name, title)
        titles = [cell[2] for cell in head]
        assert name == "expect.html" or all(titles.count(title) == 1 or title in ("In B", "") for title in titles), titles

change = json.load(open("change.json"))
words = " ".join(" ".join(pages["change.html"].words).split())
assert all(setting["setting"] in words for setting in change["differences"])
links = [table for table in pages["change.html"].tables if "More in B" in [c[2] for c in table[0]] and table[0][1][2] == "Link"]
assert [row[1][2] for row in links[0][1:]] == [link["name"] for link in change["links"]]
assert "<late>" in words and "A is before, B is after" in words
# A matrix that shows nothing is left out, and what is said of it holds where figures are of links that leave.
# Text can be read in both themes and on paper: WCAG 2.1, 1.4.3.
def luminance(colour):
    digits = colour.lstrip("#") if len(colour) == 7 else "".join(2 * c for c in colour.lstrip("#"))
    parts = [int(digits[i:i + 2], 16) / 255 for i in (0, 2, 4)]
    return sum(w * (p / 12.92 if p <= .04045 else ((p + .055) / 1.055) ** 2.4) for w, p in zip((.2126, .7152, .0722), parts))
def contrast(one, other):
    a, b = sorted((luminance(one), luminance(other)))
    return (b + .05) / (a + .05)
themes = [dict(re.findall(r"--(\w+): (#\w+)", rules)) for rules in re.findall(r":root \{([^}]*)\}", open("jobs.html").read())]
assert len(themes) == 3
for theme in themes:
    theme = themes[0] | theme
    for text, ground in ("ink", "page"), ("ink", "card"), ("ink", "stripe"), ("ink", "bar"), ("muted", "page"), ("muted", "card"), \
            ("muted", "stripe"), ("deep", "page"), ("deep", "card"), ("card", "accent"):
        assert contrast(theme[text], theme[ground]) >= 4.5, (text, ground, theme)
assert "matrix" in pages["jobs.html"].ids and "matrix" not in pages["ring.html"].ids
assert "#matrix" not in pages["ring.html"].links
assert not any("links that come in" in text for text in pages["credits.html"].words)
END

browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)
[[ $browser && $(command -v pdftotext) ]] || { echo "skipped: neither widths nor printing were tried: no Chromium, or no pdftotext"; exit 77; }
browse() { timeout 120 "$browser" --headless --no-sandbox --disable-gpu --hide-scrollbars --user-data-dir="$work/profile" "$@" 2>/dev/null; }

# wide FILE WIDTH: how many pixels the page and its lists are wider than they have room.
wide() {
	cat >frame.html <<-END
		<!DOCTYPE html><iframe id=f src="$1" style="border:0;width:$2px;height:900px"></iframe><script>
		document.getElementById("f").onload = function () {
		  var page = this.contentDocument, most = 0;
		  page.querySelectorAll(".scroll").forEach(function (list) { most = Math.max(most, list.scrollWidth - list.clientWidth); });
		  document.title = "page " + (page.documentElement.scrollWidth - $2) + " lists " + most;
		};
		</script>
	END
	browse --allow-file-access-from-files --window-size=1400,1000 --virtual-time-budget=5000 --dump-dom "file://$work/frame.html" |
		sed -n 's/.*<title>\(page .*\)<\/title>.*/\1/p'
}
for page in jobs ring credits change expect; do
	[[ $(wide $page.html 1280) == "page 0 lists "[01] ]] || { echo "$page in 1280 pixels: $(wide $page.html 1280)"; exit 1; }
	[[ $(wide $page.html 390) == "page 0 lists "* ]] || { echo "$page on a phone: $(wide $page.html 390)"; exit 1; }
done
browse --no-pdf-header-footer --print-to-pdf=jobs.pdf "file://$work/jobs.html" >said
pdftotext -layout jobs.pdf jobs.txt
python3 - <<'END'
pages = open("jobs.txt").read().split("\f")[:-1]
assert 1 < len(pages) <= 4 and "Congestion matrix" in pages[0], len(pages)
for i, page in enumerate(pages):
    assert f"page {i + 1} of {len(pages)}" in page, page[-200:]
    first = next(line for line in page.splitlines() if line.strip())
    assert " > " not in first, first # a row of a list that goes on, without its titles
END
