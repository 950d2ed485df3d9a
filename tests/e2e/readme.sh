# Every command line in README.md and docs/tour.md works: those of their ```sh blocks run in order,
# in one scratch folder that looks like the source tree. Three kinds are different here:
#   git clone, cd, ./dev     set up the tree that is under test: they are checked to exist, not run
#   tailback view            runs without a display, told to leave after a screenshot
#   while ... &              makes traffic in the background
#   sudo tailback capture    runs when this is root, else it is skipped, with what reads cap.pcap and
#                            cap.db; what it captured must have waited
set -u
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"; kill $traffic 2>/dev/null' EXIT
traffic=
ln -s "$TB_SOURCE/tests" "$TB_SOURCE/docs" "$TB_SOURCE/schemas" "$scratch/"
cd "$scratch" || exit 1
PATH=$(dirname "$TAILBACK"):$PATH
export SDL_VIDEODRIVER=dummy TERM=dumb
unset DISPLAY WAYLAND_DISPLAY

run() {
	local code=0
	timeout 600 bash -c "$1" >out 2>err </dev/null || code=$?
	[[ $code == 0 ]] && return 0
	printf 'README.md, docs/tour.md: exit %d: %s\n' "$code" "$1"
	cat out err
	exit 1
}

n=0
while IFS= read -r line; do
	case $line in
	'' | '#'* | 'git clone '* | 'cd '*) continue ;;
	./dev*)
		command=${line#./dev }
		grep -qE "\b${command%% *}\b.*\) \"cmd_|help \|" "$TB_SOURCE/dev" || {
			echo "README.md: ./dev knows no $command"
			exit 1
		}
		;;
	'sudo apt install '*) ;; # tree/package.sh looks at the package
	'tailback view '*) run "$line --screenshot view.png" ;;
	'sudo tailback capture '*)
		if [[ $(id -u) != 0 ]]; then
			echo "not root: skipped $line"
			continue
		fi
		[[ -n $traffic ]] || exit 1
		line=${line%; kill %1}
		run "${line#sudo }"
		kill "$traffic"
		;;
	'while '*' &')
		bash -c "${line% &}" &
		traffic=$!
		;;
	'tailback '*cap.pcap* | 'tailback '*cap.db*)
		[[ -f cap.pcap ]] || continue
		run "$line"
		if [[ $line == *report* ]] && ! tr '\n' ' ' <out | grep -Eq 'The hottest are |causes? [0-9]+ % of all wait'; then
			echo "docs/tour.md: nobody waits in the capture"
			cat out
			exit 1
		fi
		;;
	*) run "$line" ;;
	esac
	n=$((n + 1))
done < <(awk '/^```sh$/ { inside = 1; next } /^```$/ { inside = 0 } inside' "$TB_SOURCE/README.md" "$TB_SOURCE/docs/tour.md")
echo "$n command lines"
[[ $n -ge 8 ]]
