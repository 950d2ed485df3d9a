# docs/figures.md, which docs/figures.py makes, has every row of the papers and every sweep of their
# figures, and a reason for each row that fails or ties.
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
	grep -qF "\`${sweep##*/}\`" "$page" || complain "$page lacks ${sweep##*/}"
done
while read -r line; do
	complain "no reason: $line"
done < <(grep -E '\| (fails|tie) \|$' "$page" || true)
exit "$wrong"
