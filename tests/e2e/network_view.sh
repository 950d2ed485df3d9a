# tailback network --view shows the tree until it is stopped, and leaves no file behind; so does a
# picture.
set -eu
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failed=0
export TMPDIR=$scratch SDL_VIDEODRIVER=dummy XDG_STATE_HOME=$scratch/state XDG_CONFIG_HOME=$scratch/state
# In the foreground: else timeout signals the program twice, and a second Ctrl-C ends it at once.
timeout --foreground -k 20 -s INT 6 "$TAILBACK" network -n qsnet --view 2>"$scratch/said" && code=0 || code=$?
grep -q 'stopped by a signal' "$scratch/said" || {
	echo "the window was not there until the signal: exit $code, $(cat "$scratch/said")"
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
