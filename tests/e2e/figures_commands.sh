# The commands of the papers' figures that are no sweep with curves show something: what is in the page
# does not print zeros alone.
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
