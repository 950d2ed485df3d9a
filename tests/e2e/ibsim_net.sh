# A net of ibsim (Debian: ibsim-utils, infiniband-diags) is the fabric that ibnetdiscover finds in the
# subnet which ibsim makes of it.
set -u
PATH=$PATH:/usr/sbin
for tool in ibsim ibnetdiscover; do
	command -v "$tool" >/dev/null || {
		echo "skipped: no $tool"
		exit 77
	}
done
sim=$(find /usr/lib -name libumad2sim.so 2>/dev/null | head -n 1)
[[ -n $sim ]] || {
	echo "skipped: no libumad2sim.so"
	exit 77
}
work=$(mktemp -d)
trap 'kill "$ibsim" 2>/dev/null; rm -rf "$work"' EXIT
net=$TB_SOURCE/tests/data/fabrics/two_leaves.net
cd "$work" || exit 1
ibsim -n -s "$net" >ibsim.log 2>&1 &
ibsim=$!
for _ in $(seq 100); do
	LD_PRELOAD=$sim timeout 60 ibnetdiscover >found 2>err && [[ -s found ]] && break
	sleep 0.1
done
[[ -s found ]] || {
	echo "skipped: ibsim does not run here: $(tail -n 1 ibsim.log err)"
	exit 77
}
timeout 60 "$TAILBACK" network -n found -f edges >found.edges || exit 1
timeout 60 "$TAILBACK" network -n "$net" -f edges >net.edges || exit 1
(($(wc -l <net.edges) == 8)) && diff net.edges found.edges
