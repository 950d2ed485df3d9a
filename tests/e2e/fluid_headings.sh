# The table of docs/fluid.md is what headings have, and what patterns give.
cd "$(mktemp -d)" || exit 1
"$TAILBACK" synth neighbour -n 4 --message 1K --messages 1 -o job.goal
n=0
while IFS='|' read -r _ network run flow of_patterns worst flow_of_patterns _; do
	network=${network//[\` ]/}
	holds=$(awk -v a="$run" -v b="$flow" -v c="$of_patterns" -v d="$flow_of_patterns" \
		'BEGIN { print a <= 3 && b <= 5 && c <= 3 && d <= 5 ? "" : ", not reliable here" }')
	read -r worst _ <<<"$worst"
	wanted="(fluid$holds: run time ${run// /} % off packets on average, flows ${flow// /} %; on patterns"
	wanted+=" ${of_patterns// /} and ${flow_of_patterns// /} %, up to $worst %)"
	heading=$("$TAILBACK" replay job.goal -n "$network,switching=fluid" -o run.db 2>&1)
	[[ $heading == *"$wanted"* ]] || {
		echo "$network: expected $wanted in: $heading" >&2
		exit 1
	}
	[[ ! $holds ]] || echo 'expect not reliable here), ' | "$TAILBACK" view run.db --script - || exit 1
	n=$((n + 1))
done < <(grep -E '^\| `' "$TB_SOURCE/docs/fluid.md")
[[ $n -eq 8 ]] || exit 1

for network in credits RoCE ethernet; do
	python3 "$TB_SOURCE/tests/measured/fluid.py" "$TAILBACK" --quiet --nodes 16 --network "$network" \
		--check "$TB_SOURCE/docs/fluid.md" || exit 1
done

# Ways are taken by the rates of their links: split evenly, run times were 48 % off.
off=$(python3 "$TB_SOURCE/tests/measured/fluid.py" "$TAILBACK" --quiet --nodes 16 --network 'credits adaptive' \
	--match unequal | awk '$3 == "all" { print int($4) }')
[[ $off -lt 16 ]] || {
	echo "cables of unequal rates: run times are $off % off" >&2
	exit 1
}
