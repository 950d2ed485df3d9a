#!/usr/bin/env bash
# Live capture on a veth pair in a network namespace of its own: counts, formats, signals,
# privileges, and what is said when it cannot be.
set -euo pipefail

if [[ -z ${INSIDE-} ]]; then
	for tool in ip tcpdump unshare; do
		command -v "$tool" >/dev/null || { echo "skipped: no $tool"; exit 77; }
	done
	# Root has a namespace for the asking; others need one of users around it.
	for how in "--net" "--net --map-root-user"; do
		# shellcheck disable=SC2086
		if unshare $how ip link add tb0 type veth peer name tb1 2>/dev/null; then
			INSIDE=1 exec unshare $how bash "$0" "$@"
		fi
	done
	echo "skipped: network namespaces are not allowed here"
	exit 77
fi

work=$(mktemp -d)
trap 'jobs -p | xargs -r kill 2>/dev/null; rm -rf "$work"' EXIT
chmod 755 "$work"
cd "$work"

fail() {
	echo "FAIL: $*"
	for file in *.err; do sed "s/^/$file: /" "$file"; done
	exit 1
}

# expect WHAT PATTERN FILE
expect() { grep -qE -- "$2" "$3" || fail "$1: expected '$2' in $3"; }

sysctl -qw net.ipv6.conf.default.disable_ipv6=1 2>/dev/null || true
ip link add tb0 type veth peer name tb1 address 02:00:00:00:00:02
ip link set tb0 up
ip link set tb1 up
ip addr add 10.9.0.1/24 dev tb0
ip neigh add 10.9.0.2 lladdr 02:00:00:00:00:02 dev tb0
privileges=()
tcpdump=(tcpdump -Z root)
if [[ $(awk '{print $3}' /proc/self/uid_map) == 1 ]]; then
	# A namespace of users with nobody but root, where tcpdump insists on becoming another.
	privileges=(-Z root)
	tcpdump=(unshare --user tcpdump)
fi

# send N PORT BYTES: so many datagrams, each one frame out of tb0 and into tb1.
send() {
	local payload
	payload=$(printf '%*s' "$3" '')
	for ((i = 0; i < $1; i++)); do printf '%s' "$payload" >"/dev/udp/10.9.0.2/$2"; done
}

# start NAME ARGUMENT...: a capture in the background, once it listens; on tb1, unless the
# arguments say where.
start() {
	local name=$1 from=(-i tb1)
	shift
	[[ $1 == -i ]] && from=()
	"$TAILBACK" capture "${from[@]}" "${privileges[@]}" "$@" 2>"$name.err" &
	pid=$!
	for ((i = 0; i < 2000; i++)); do
		grep -q 'listening on' "$name.err" 2>/dev/null && return
		sleep 0.05
	done
	fail "$name does not listen"
}

# counts NAME N: asks it for its counts until it has captured so many.
counts() {
	for ((i = 0; i < 1000; i++)); do
		kill -USR1 "$pid"
		sleep 0.1
		grep -q "^$2 packets captured, " "$1.err" && return
	done
	fail "$1 does not come to $2 packets"
}

# finish NAME SIGNAL: ends it by a signal and wants success.
finish() {
	kill -"$2" "$pid"
	wait "$pid" || fail "$1 exits with $?"
}

# packets FILE: how many tcpdump reads.
packets() { "${tcpdump[@]}" -nr "$1" 2>/dev/null | wc -l; }

# All packets that the filter lets by, none else, and the counts as tcpdump's.
start udp -w udp.pcapng udp port 9
send 20 9 100
send 3 10 100
counts udp 20
finish udp INT
expect "Ctrl-C" '^20 packets captured$' udp.err
expect "Ctrl-C" '^20 packets received by filter$' udp.err
expect "Ctrl-C" '^0 packets dropped by kernel$' udp.err
[[ $(packets udp.pcapng) == 20 ]] || fail "udp.pcapng has $(packets udp.pcapng) packets"
[[ $(head -c4 udp.pcapng | od -An -tx4) == " 0a0d0d0a" ]] || fail "udp.pcapng is no pcapng"
expect "name of the interface" 'tb1' udp.pcapng
expect "filter" 'udp port 9' udp.pcapng
if command -v capinfos >/dev/null; then
	capinfos udp.pcapng >info.txt || fail "capinfos refuses udp.pcapng"
	expect "precision" 'nanoseconds' info.txt
	expect "statistics" 'packets received *= *20|Number of packets: *20' info.txt
fi

# -c ends by itself; .pcap is pcap with nanoseconds; -s cuts, the wire's length stays.
start count -w count.pcap -c 5 -s 60 udp
send 9 9 100
wait "$pid" || fail "count exits with $?"
expect "-c" '^5 packets captured$' count.err
[[ $(head -c4 count.pcap | od -An -tx4) == " a1b23c4d" ]] || fail "count.pcap is no pcap"
[[ $(packets count.pcap) == 5 ]] || fail "count.pcap has $(packets count.pcap) packets"
[[ $(stat -c %s count.pcap) == $((24 + 5 * (16 + 60))) ]] || fail "count.pcap is not cut to 60 bytes"
"${tcpdump[@]}" -nr count.pcap 2>/dev/null | grep -q 'length 100' || fail "count.pcap lost the wire's length"

# Others follow the file while it grows; SIGUSR1 tells the counts; SIGTERM ends it too.
start follow -w follow.pcapng --immediate-mode -U udp
send 7 9 10
for ((i = 0; i < 1000; i++)); do
	[[ $(packets follow.pcapng) == 7 ]] && break
	sleep 0.1
done
[[ $(packets follow.pcapng) == 7 ]] || fail "-U shows $(packets follow.pcapng) of 7 packets"
counts follow 7
expect "SIGUSR1" '^7 packets captured, 7 packets received by filter, 0 packets dropped by kernel$' follow.err
if [[ ${#privileges[@]} == 0 ]]; then
	nobody=$(id -u nobody)
	expect "privileges" "^Uid:[[:space:]]+${nobody}[[:space:]]+${nobody}" "/proc/$pid/status"
	expect "privileges" '^Groups:[[:space:]]*([0-9]+ ?)?$' "/proc/$pid/status"
	expect "privileges" '^CapPrm:[[:space:]]+0+$' "/proc/$pid/status"
fi
finish follow TERM

# The user who called sudo owns the file, and root is gone.
if [[ ${#privileges[@]} == 0 ]]; then
	mkdir theirs
	chown nobody theirs
	SUDO_UID=$(id -u nobody) start sudo -c 1 -w theirs/a.pcap udp
	send 1 9 10
	wait "$pid" || fail "with SUDO_UID it exits with $?"
	[[ $(stat -c %U theirs/a.pcap) == nobody ]] || fail "theirs/a.pcap belongs to $(stat -c %U theirs/a.pcap)"
	mkdir -m 700 ours
	"$TAILBACK" capture -i tb1 -Z nobody -c 1 -w ours/a.pcap udp 2>refused.err &&
		fail "-Z nobody writes where only root may"
	expect "-Z" 'ours/a.pcap: cannot be written: Permission denied' refused.err
fi

# To a pipe, and from a file through a filter.
start pipe -c 4 -w - udp >pipe.bin
send 4 9 10
wait "$pid" || fail "pipe exits with $?"
[[ $(packets - <pipe.bin) == 4 ]] || fail "the pipe carries $(packets - <pipe.bin) packets"
"$TAILBACK" capture "${privileges[@]}" -r udp.pcapng -w some.pcap -c 6 dst host 10.9.0.2 2>some.err ||
	fail "-r exits with $?"
expect "-r" '^6 packets captured$' some.err
[[ $(packets some.pcap) == 6 ]] || fail "some.pcap has $(packets some.pcap) packets"

# All interfaces at once see each frame twice, where it leaves and where it arrives; a number
# of -D stands for a name.
start any -i any -c 4 -w any.pcapng udp
send 2 9 10
wait "$pid" || fail "any exits with $?"
expect "any" 'LINUX_SLL2' any.err
[[ $("${tcpdump[@]}" -nr any.pcapng 2>/dev/null | awk '{print $2, $3}' | sort | uniq -c | awk '{print $1}' | tr '\n' ' ') == "2 2 " ]] ||
	fail "any.pcapng does not tell two interfaces apart"
number=$("$TAILBACK" capture -D | sed -n 's/^\([0-9]*\)\.tb1 .*/\1/p')
start number -i "$number" -c 1 -w number.pcap udp
send 1 9 10
wait "$pid" || fail "-i $number exits with $?"
expect "-i $number" 'listening on tb1' number.err

# refuses CODE PATTERN ARGUMENT...
refuses() {
	local wanted=$1 pattern=$2 code=0
	shift 2
	"$TAILBACK" capture "$@" >refuse.out 2>refuse.err || code=$?
	[[ $code == "$wanted" ]] || fail "'$*' exits with $code"
	expect "'$*'" "$pattern" refuse.err
	[[ ! -e never.pcapng ]] || fail "'$*' left a file behind"
}
refuses 2 'nope: there is no such interface' -i nope -w never.pcapng
refuses 2 "filter 'port x y': " -i tb1 -w never.pcapng port x y
refuses 2 'there is no user' -i tb1 -Z no-such-user -w never.pcapng
refuses 1 'no/such/folder.pcap: cannot be written' -i tb1 "${privileges[@]}" -w no/such/folder.pcap
refuses 1 '/dev/full: writing failed: No space left on device' -i tb1 "${privileges[@]}" -w /dev/full
head -c 400 udp.pcapng >cut.pcapng
refuses 1 'cut.pcapng: ' "${privileges[@]}" -r cut.pcapng -w cut.pcap
if command -v setpriv >/dev/null && [[ ${#privileges[@]} == 0 ]]; then
	code=0
	setpriv --reuid=nobody --clear-groups "$TAILBACK" capture -i tb1 -w never.pcapng 2>nobody.err || code=$?
	[[ $code == 1 ]] || fail "without privileges it exits with $code"
	expect "without privileges" 'tb1: capturing needs root or the capability CAP_NET_RAW' nobody.err
fi
"$TAILBACK" capture -D >list.txt
grep -qE '^[0-9]+\.tb1 \[Up, Running' list.txt || fail "-D does not list tb1"
"$TAILBACK" capture -D --json >list.json
grep -q '"name": "tb1"' list.json || fail "-D --json does not list tb1"
