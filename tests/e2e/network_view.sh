# tailback network --view shows the tree until it is stopped, and leaves no file behind; so does a
# picture.
set -eum
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
. "$TB_SOURCE/tests/support/strikes.sh"
failed=0
export TMPDIR=$scratch SDL_VIDEODRIVER=dummy XDG_STATE_HOME=$scratch/state XDG_CONFIG_HOME=$scratch/state
"$TAILBACK" network -n qsnet --view 2>said &
pid=$!
# It shows a store, which it made for that.
until find "/proc/$pid/fd" -lname "$scratch/tailback-*" 2>/dev/null | grep -q . || ! look $pid; do pause; done
sleep 1
strike INT $pid && grep -q 'stopped by a signal' said || {
	echo "the window was not there until the signal: exit $code, $(cat said)"
	failed=1
}
"$TAILBACK" network -n qsnet,levels=2 -o "$scratch/tree.pdf"
[[ $(head -c 5 "$scratch/tree.pdf") == %PDF- ]] || {
	echo "no PDF was written"
	failed=1
}
"$TAILBACK" network -n qsnet,levels=2 --store "$scratch/fabric.db" >"$scratch/report"
printf 'expect no timeline\nrefuse wait per bin\nrefuse Whole run\n' >"$scratch/script"
"$TAILBACK" view -m busy --script "$scratch/script" "$scratch/fabric.db" || {
	echo "a store without time shows a timeline"
	failed=1
}
left=$(find "$scratch" -name 'tailback-*')
[[ -z $left ]] || {
	echo "left behind: $left"
	failed=1
}
exit "$failed"
