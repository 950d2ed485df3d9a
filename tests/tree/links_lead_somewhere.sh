# Links between the documents, and pictures in them, lead to files that are there; so do the headers and pages
# that comments name: "(name.h)", docs/name.md.
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
sources=$(git ls-files '*.[ch]')
while read -r header; do
	grep -q "/${header:1:-1}\$" <<<"$sources" || {
		git grep -n -F "$header" -- '*.[ch]'
		failed=1
	}
done < <(git grep -hE '^\s*//.*\([a-z_0-9]+\.h\)' -- '*.[ch]' | grep -oE '\([a-z_0-9]+\.h\)' | sort -u)
while IFS=: read -r file page; do
	[[ -e $page ]] || {
		echo "$file: $page is not there"
		failed=1
	}
done < <(git grep -oE '\bdocs/[a-z-]+\.md' -- '*.[ch]')
exit "$failed"
