# Runs golden cases: transcripts of commands with what they print and how they exit.
#   run.sh [--update] CASE...
# A case is a text file. "$ COMMAND" runs COMMAND in bash; below it stand its stdout, indented by
# two spaces, its stderr, marked "! ", and its exit code, "[N]", when not 0. A line that ends in
# " (glob)" is matched as a shell pattern. Anything else is a remark. The commands of a case
# share a scratch folder that is empty at first; $TB_DATA is tests/data. --update writes what the
# commands say now into the case, but keeps the patterns that still match.
set -u
: "${TAILBACK:?the program to run}" "${TB_SOURCE:?the source folder}"
export TAILBACK TB_SOURCE TB_DATA=$TB_SOURCE/tests/data TB_SHARED=${TB_SHARED-$TB_SOURCE/../shared}
PATH=$(dirname "$TAILBACK"):$PATH
export PATH LC_ALL=C.UTF-8 TZ=UTC TERM=dumb COLUMNS=80
unset NO_COLOR ARGP_HELP_FMT DISPLAY WAYLAND_DISPLAY

update=
if [[ ${1-} == --update ]]; then
	update=1
	shift
fi

# transcribe COMMAND: runs it and prints what a case should hold below it.
transcribe() {
	local code=0
	(cd "$scratch/work" && bash -c "$1" </dev/null >"$scratch/out" 2>"$scratch/err") || code=$?
	# The last line may lack its newline: sed adds none, so it is marked as cram marks it.
	mark '  ' <"$scratch/out"
	mark '! ' <"$scratch/err"
	[[ $code == 0 ]] || printf '[%d]\n' "$code"
}

mark() {
	local line
	while IFS= read -r line; do
		printf '%s%s\n' "$1" "${line//"$TB_DATA"/\$TB_DATA}"
	done
	[[ -z $line ]] || printf '%s%s (no newline)\n' "$1" "$line"
}

# settle WANTED GOT: prints GOT with the patterns of WANTED in place of the lines that they match,
# in order. What is printed equals WANTED when the case holds.
settle() {
	local -a patterns got
	local line first=0 i
	mapfile -t patterns < <(grep ' (glob)$' "$1")
	mapfile -t got <"$2"
	for line in "${got[@]}"; do
		for ((i = first; i < ${#patterns[@]}; i++)); do
			# shellcheck disable=SC2053
			if [[ $line == ${patterns[i]% (glob)} ]]; then
				line=${patterns[i]}
				first=$((i + 1))
				break
			fi
		done
		printf '%s\n' "$line"
	done
}

# close_block: runs the command in hand, if any, and writes what the case should say of it.
close_block() {
	[[ -n $command ]] || return 0
	transcribe "$command" >"$scratch/got"
	if [[ $has_pattern ]]; then
		settle "$scratch/wanted" "$scratch/got"
	else
		cat "$scratch/got"
	fi
	has_pattern=
	command=
	: >"$scratch/wanted"
}

replay_case() {
	local line command has_pattern
	command=
	has_pattern=
	: >"$scratch/wanted"
	while IFS= read -r line || [[ -n $line ]]; do
		case $line in
		'$ '*)
			close_block
			printf '%s\n' "$line"
			command=${line#'$ '}
			;;
		'  '* | '! '* | '['[0-9]*']')
			if [[ -n $command ]]; then
				printf '%s\n' "$line" >>"$scratch/wanted"
				[[ $line != *' (glob)' ]] || has_pattern=1
			else
				printf '%s\n' "$line"
			fi
			;;
		*)
			close_block
			printf '%s\n' "$line"
			;;
		esac
	done <"$1"
	close_block
}

failed=0
for case in "$@"; do
	scratch=$(mktemp -d) || exit 1
	mkdir "$scratch/work"
	replay_case "$case" >"$scratch/actual"
	if ! cmp -s "$case" "$scratch/actual"; then
		if [[ -n $update ]]; then
			cp "$scratch/actual" "$case"
			echo "updated $case"
		else
			diff -u --label "$case" --label "now" "$case" "$scratch/actual"
			failed=1
		fi
	fi
	rm -rf "$scratch"
done
[[ $failed == 0 ]] || echo "To accept: ./dev golden --update"
exit "$failed"
