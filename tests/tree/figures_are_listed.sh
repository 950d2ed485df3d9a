# docs/figures.md, which docs/figures.py makes, has every row of the papers and every sweep of their
# figures, and a reason for each row that fails or ties; every figure has a row, and every row belongs to
# one of 32 statements.
set -euo pipefail
cd "$TB_SOURCE"
page=docs/figures.md wrong=0
complain() {
	echo "$1"
	wrong=1
}
while IFS=, read -r id _; do
	[[ $id == id ]] || grep -qF "| \`$id\` |" "$page" || complain "$page lacks the row $id"
done <schemas/quadrics.csv
for sweep in schemas/sweeps/0*.ini; do
	grep -q "\`${sweep##*/}[\` ]" "$page" || complain "$page lacks ${sweep##*/}"
done
while read -r line; do
	complain "no reason: $line"
done < <(grep -E '\| (fails|tie) \|$' "$page" || true)
while read -r line; do
	complain "no row: $line"
done < <(awk '/^## / { if (figure && !rows) print figure; figure = $2 ~ /^00/ ? $0 : ""; rows = 0 } /^\| `/ { rows++ }' "$page")
[[ $(grep -cE '^\| [0-9]+ \| 00[0-4] \| .* \| (holds|near|not: [0-9]+ of [0-9]+) \| .*`' "$page") == 32 ]] ||
	complain "$page has not 32 statements"
while read -r line; do
	complain "$line"
done < <(PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=docs python3 - <<-'END'
	import csv
	import figures
	statements = [r for r in csv.DictReader(open("docs/figures.csv")) if r["kind"] == "statement"]
	for row in csv.DictReader(open("schemas/quadrics.csv")):
	    n = sum(figures.has(s["command"], row) for s in statements)
	    if n != 1:
	        print("%d statements have %s" % (n, row["id"]))
	END
)
exit "$wrong"
