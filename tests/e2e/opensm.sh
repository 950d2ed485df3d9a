# OpenSM's routing engines on a simulated subnet (ibsim; Debian: opensm, ibsim-utils): its tables of
# trees that were written here are read in both forms, join all nodes, and load no cable less, when
# all send to all, than the product's own routes. Figures of more fabrics: docs/network.md. And what
# infiniband-diags print of the subnet, in four forms, is one fabric. Tables that were written here are
# those that the switches have when OpenSM has loaded them.
set -u
PATH=$PATH:/usr/sbin # opensm is a server
for tool in opensm ibsim iblinkinfo ibnetdiscover dump_fts; do
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
ibsim=

# route FABRIC ENGINE: OpenSM's tables, as opensm-lfts.dump and opensm.fdbs in $work/ENGINE.
route() {
	rm -rf "${work:?}/$2" # OpenSM would keep the LIDs of the last fabric
	mkdir "$work/$2"
	(cd "$work" && exec ibsim -n -s "$1") >"$work/ibsim.log" 2>&1 &
	ibsim=$!
	sleep 0.5
	LD_PRELOAD=$sim OSM_TMP_DIR=$work/$2 OSM_CACHE_DIR=$work/$2 timeout 60 \
		opensm -R "$2" -D 0x43 -f "$work/$2/log" -o -e >"$work/$2/out" 2>&1
	[[ $2 != minhop ]] || print_fabric
	[[ $2 != minhop ]] || load
	kill "$ibsim" 2>/dev/null
	wait "$ibsim" 2>/dev/null
	[[ -s $work/$2/opensm-lfts.dump ]]
}

# print_fabric: the subnet that ibsim has, by LIDs that OpenSM gave, as files in $work/printed.
print_fabric() {
	local tool
	mkdir -p "$work/printed"
	for tool in ibnetdiscover "ibnetdiscover --ports" iblinkinfo "iblinkinfo --line"; do
		# shellcheck disable=SC2086 # the tool's options
		LD_PRELOAD=$sim timeout 60 $tool >"$work/printed/${tool// /}" 2>"$work/printed.err"
	done
}

# load: OpenSM's tables after it has read those of the product, and what dump_fts prints then, in
# $work/loaded.
load() {
	rm -rf "${work:?}/loaded"
	mkdir "$work/loaded"
	timeout 60 "$TAILBACK" network -n "$work/printed/ibnetdiscover" -o "$work/loaded/own.lfts"
	LD_PRELOAD=$sim OSM_TMP_DIR=$work/loaded OSM_CACHE_DIR=$work/minhop timeout 60 opensm -R file \
		-U "$work/loaded/own.lfts" -D 0x43 -f "$work/loaded/log" -o -e >"$work/loaded/out" 2>&1
	LD_PRELOAD=$sim timeout 60 dump_fts >"$work/loaded/dumped" 2>"$work/loaded/err"
}

# entries FILE: GUID, LID and port of each entry.
entries() {
	awk '/^Unicast/ { for (i = 1; i < NF; i++) if ($i == "guid") guid = $(i + 1) }
		/^0x/ { print guid, $1, $2 + 0 }' "$1" | sort
}

# loads: whether all of these are the same, and more than a few.
loads() {
	local file
	for file in own.lfts opensm-lfts.dump dumped; do
		entries "$work/loaded/$file" >"$work/loaded/$file.entries"
		cmp "$work/loaded/own.lfts.entries" "$work/loaded/$file.entries" || return 1
	done
	(($(wc -l <"$work/loaded/own.lfts.entries") > 500)) || return 1
	! cmp -s "$work/loaded/own.lfts.entries" <(entries "$work/minhop/opensm-lfts.dump")
}

# one_fabric: whether all of them are the cables of the first.
one_fabric() {
	rm -f "$work/first"
	local file
	for file in "$work"/printed/*; do
		timeout 60 "$TAILBACK" network -n "$file" -f edges >"$work/edges" || return 1
		[[ -s $work/first ]] || cp "$work/edges" "$work/first"
		cmp "$work/first" "$work/edges" || return 1
	done
	(($(wc -l <"$work/first") > 50))
}

# most NETWORK [OPTION...]: the most pairs of hosts over a cable between switches.
most() {
	timeout 60 "$TAILBACK" network -n "$@" 2>"$work/warnings" |
		awk '/^Pairs of hosts/ { on = 1 } /^Share/ { on = 0 }
			on && /(up|down) (from|to) level/ { if ($7 > most) most = $7 } END { print most + 0 }'
	cat "$work/warnings" >&2
	[[ ! -s $work/warnings ]]
}

failed=0
for shape in "pgft(2; 8,6; 1,4; 1,2)" "xgft(3; 6,6,6; 1,3,6)"; do
	timeout 60 "$TAILBACK" network -n "ib-hdr,shape=$shape" -f ibnetdiscover >"$work/fabric.net" ||
		failed=1
	digits=$(most "ib-hdr,shape=$shape,ascent=deterministic") || failed=1
	balanced=$(most "$work/fabric.net,preset=ib-hdr,ascent=deterministic") || failed=1
	for engine in minhop updn ftree; do
		route "$work/fabric.net" "$engine" || {
			echo "skipped: opensm does not run here: $(tail -n 1 "$work/$engine/out")"
			exit 77
		}
		lfts=$(most "$work/fabric.net,preset=ib-hdr" --routes "$work/$engine/opensm-lfts.dump") ||
			failed=1
		fdbs=$(most "$work/fabric.net,preset=ib-hdr" --routes "$work/$engine/opensm.fdbs") ||
			failed=1
		echo "$shape: most pairs over a cable: $engine $lfts, d-mod-k $digits, balanced $balanced"
		[[ $lfts == "$fdbs" ]] || failed=1
		[[ $engine != minhop ]] || one_fabric || failed=1
		[[ $engine != minhop ]] || loads || failed=1
		((digits > 0 && digits <= lfts && balanced > 0 && balanced <= lfts)) || failed=1
	done
done

# A cable 1x wide, seen from both ends, changes neither OpenSM's tables nor the product's.
read -r from to < <(awk '/^Switch/ { sw = $3 } /^\[.*"S-/ { print sw $1, $2; exit }' "$work/fabric.net")
awk -v from="$from" -v to="$to" '/^Switch/ { sw = $3 } /^\[/ && (sw $1 == from || sw $1 == to) {
	sub(/\t# /, " w=1\t# "); sub(/4xHDR/, "1xHDR"); n++ } { print } END { exit n != 2 }' "$work/fabric.net" \
	>"$work/slow.net" || failed=1
for engine in minhop updn ftree; do
	route "$work/fabric.net" "$engine"
	entries "$work/$engine/opensm-lfts.dump" >"$work/before"
	[[ $engine != minhop ]] || entries "$work/loaded/own.lfts" >"$work/own"
	route "$work/slow.net" "$engine"
	grep -q 1x "$work/printed/ibnetdiscover" || failed=1
	cmp "$work/before" <(entries "$work/$engine/opensm-lfts.dump") || failed=1
	[[ $engine != minhop ]] || cmp "$work/own" <(entries "$work/loaded/own.lfts") || failed=1
done
exit $failed
