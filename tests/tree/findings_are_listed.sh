# docs/findings.md lists the rules of the table: what is found, and what findings propose.
set -u
cd "$TB_SOURCE" || exit 1
table() {
	sed -n '/define TB_RULES_FOUND/,/define TB_RULES_TRIED/p' analyze/findings/rules.h
	sed -n '/define TB_RULES_TRIED/,/clang-format on/p' analyze/findings/rules.h | grep -v SEARCH
}
in_table=$(table | sed -nE 's/.*ROW\([A-Z_]+, "([a-z-]+)".*/\1/p' | sort -u)
on_page=$(sed -n '/^## What is found/,/^## How good/p' docs/findings.md |
	awk '/^- `/ { print $2 } /^\[Counters\]/ { for (i = 2; i <= NF; i++) print $i } /^$/ { next }
		!/^(- |\[)/ { for (i = 1; i <= NF; i++) print $i }' |
	sed -nE 's/^`([a-z]+(-[a-z]+)*)`[:,]?$/\1/p' | sort -u)
missing=$(comm -23 <(echo "$in_table") <(echo "$on_page"))
[[ -z $missing ]] || { echo "docs/findings.md lacks: $missing" && exit 1; }
listed=$(sed -n '/^## What is found/,/^## How good/p' docs/findings.md | sed -nE 's/^- `([a-z-]+)`:.*/\1/p')
strange=$(comm -13 <(echo "$in_table") <(echo "$listed" | sort))
[[ -z $strange ]] || { echo "docs/findings.md has rules that the table lacks: $strange" && exit 1; }
[[ $(wc -l <<<"$in_table") -ge 35 ]]
