# The algorithms of collective operations are the same in the help of synth, which is made from
# their table, and in its manual page.
set -u
cd "$TB_SOURCE" || exit 1
status=0
listed=$("$TAILBACK" synth --help | sed -n '/^Collectives/,/^$/p' |
	sed -nE 's/^  ([a-z][a-z-]*) .*/=\1/p; s/^    ([a-z][a-z-]*) .*/\1/p')
operation=
n=0
for name in $listed; do
	case $name in
	=*)
		operation=${name#=}
		continue
		;;
	esac
	n=$((n + 1))
	sed -n "/^\.It Cm $operation\$/,/^\.El\$/p" docs/man/tailback-synth.1 |
		grep -q "^\.It Cm $name\$" ||
		{ echo "docs/man/tailback-synth.1: $operation has no $name" && status=1; }
done
[[ $n -gt 70 ]] || { echo "synth --help lists $n algorithms" && status=1; }
exit $status
