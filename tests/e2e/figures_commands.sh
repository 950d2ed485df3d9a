# The commands of the papers' figures that are more than a sweep's file show something: no zeros alone,
# and curves.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
ln -s "$TAILBACK" tailback
PATH=$work:$PATH
n=0
while read -r command; do
	n=$((n + 1))
	echo "$command"
	bash -c "$command" >shown 2>said || {
		cat said
		exit 1
	}
	if grep -q 'Nothing to show' shown || ! grep -q '[1-9]' shown; then
		tail -1 shown
		exit 1
	fi
done < <(grep -v '^[|0-9]' "$TB_SOURCE/docs/figures.md" | grep -o '`tailback sweep [a-z][a-z.-]* [^`]*`' | tr -d '`')
[[ $n -ge 2 ]]
while read -r sweep; do
	n=$((n + 1))
	echo "$sweep"
	# shellcheck disable=SC2086 # a file and its options
	(cd "$TB_SOURCE/schemas/sweeps" && tailback sweep $sweep --set message=64,1K -q -o "$work/$n.db")
	[[ $(tailback sweep plot "$n.db" -f csv | wc -l) -gt 4 ]]
done < <(grep -v '^[|0-9]*[|.]' "$TB_SOURCE/docs/figures.md" | grep -oE '`[0-9a-z-]+\.ini [^`]+`' | tr -d '`')
[[ $n -ge 4 ]]
