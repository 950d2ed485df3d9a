# Links between the documents, and pictures in them, lead to files that are there.
set -u
cd "$TB_SOURCE" || exit 1
failed=0
for page in *.md docs/*.md tests/data/README.md; do
	while read -r target; do
		[[ -e $(dirname "$page")/${target%%#*} ]] || {
			echo "$page: $target is not there"
			failed=1
		}
	done < <(grep -oE '\]\([^)]+\)' "$page" | sed 's/^](//; s/)$//' | grep -vE '^(https?:|#)')
done
exit "$failed"
