# Completion of tailback for bash. Commands, options and their words are asked of the program itself,
# so that they cannot fall behind.

_tailback_files()
{
	compopt -o filenames 2>/dev/null
	mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -d -- "$cur"; compgen -f -- "$cur" | grep -E "$1")
}

_tailback_words()
{
	mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -W "$1" -- "$cur")
}

_tailback_interfaces()
{
	_tailback_words "any $(ls /sys/class/net 2>/dev/null)"
}

# What stands after option $2 of command $1; false when the option takes nothing known here. The
# program knows the words of an option, and files are known here.
_tailback_value()
{
	local packets='\.(pcap|pcapng|cap)(\.(gz|zst|xz|lz4|bz2))?$' stores='\.db$' words=
	case $1:$2 in
	*:--dedup | *:--split-jobs) [[ -n $equals ]] || return 1 ;; # the value may be left out
	*:--collective)
		[[ -n $equals && $prev != --collective ]] && return 1
		_tailback_words "$("${COMP_WORDS[0]}" "$1" --words --collective | sed 's/$/=/')"
		return
		;;
	esac
	[[ $2 == -* ]] && words=$("${COMP_WORDS[0]}" "$1" --words "$2" 2>/dev/null)
	[[ -n $words ]] && _tailback_words "$words"
	case $1:$2 in
	*:-n | *:--network | counters:--fabric)
		_tailback_files '\.ini$'
		;;
	replay:-H | replay:--host) _tailback_words "$(_tailback_libraries)" ;;
	replay:-o | replay:--output | sweep:-o | sweep:--output | merge:-o | merge:--output) _tailback_files "$stores" ;;
	network:--traffic) _tailback_files "$stores" ;;
	network:--routes | network:--roots | network:--node-name-map | replay:--map | replay:--routes | replay:--fault-file | replay:--job | replay:--also) _tailback_files '.' ;;
	replay:--fault) _tailback_words 'link= switch=' ;;
	network:--store | counters:-o | counters:--output) _tailback_files "$stores" ;;
	synth:--algorithm) _tailback_words "$(_tailback_algorithms)" ;;
	plot:-x | plot:--x | plot:-y | plot:--y)
		_tailback_words 'offered accepted taken given latency waiting nodes message load'
		;;
	plot:--series | plot:--where) _tailback_words "$(_tailback_sweep_keys)" ;;
	sweep:--set) _tailback_words "$(_tailback_sweep_keys)" ;;
	capture:-i | capture:--interface) _tailback_interfaces ;;
	capture:-Z | capture:--relinquish-privileges) _tailback_words "$(compgen -u)" ;;
	capture:-r | capture:-w | capture:--read | capture:--write) _tailback_files "$packets" ;;
	trace:-o | trace:--output) _tailback_files '\.tbt$' ;;
	trace:--merge) _tailback_files '/$' ;;
	*:-o | *:--output | view:--screenshot) _tailback_files '.' ;;
	*) [[ -n $words ]] ;;
	esac
}

# The libraries stand in these files, [host.NAME] each; those of the network on the line when one
# stands there.
_tailback_libraries()
{
	local file prefix name
	prefix=$(dirname "$(dirname "$(command -v "${COMP_WORDS[0]}")")")
	for file in "$prefix"/share/tailback/networks/*.ini; do
		name=$(basename "$file" .ini)
		[[ " ${COMP_WORDS[*]} " == *" $name"[,\ ]* ]] || continue
		sed -n 's/^\[host\.\(.*\)\]$/\1/p' "$file"
	done
	echo none
}

# Names stand in the help of synth, indented by two, below the headline $1. The algorithms of
# collectives are indented more.
_tailback_names()
{
	"${COMP_WORDS[0]}" synth --help 2>/dev/null |
		sed -n "/^$1/,/^\$/"'s/^  \([a-z][a-z-]*\)  .*/\1/p'
}

# What synth makes: a pattern, a collective, or a benchmark of io.
_tailback_jobs()
{
	if [[ " ${COMP_WORDS[*]} " == *" io "* ]]; then
		_tailback_names Parallel
	else
		_tailback_names Patterns
		_tailback_names Collectives
		echo io
	fi
}

# The algorithms of the collective that stands on the line; of all when none does.
_tailback_algorithms()
{
	local word wanted=
	for word in $(_tailback_names Collectives); do
		[[ " ${COMP_WORDS[*]} " == *" $word "* ]] && wanted=$word
	done
	"${COMP_WORDS[0]}" synth --help 2>/dev/null | awk -v wanted="$wanted" '
		/^Collectives/ { inside = 1 }
		/^$/ { inside = 0 }
		/^  [a-z]/ { at = wanted == "" || $1 == wanted }
		/^    [a-z]/ && inside && at && !told[$1]++ { print $1 }'
}

_tailback_experiments()
{
	"${COMP_WORDS[0]}" sweep --list 2>/dev/null |
		sed -n '/^Experiments/,/^$/s/^ *\([a-z][a-z0-9.-]*\)  .*/\1/p'
}

_tailback_sweep_keys()
{
	"${COMP_WORDS[0]}" sweep --list 2>/dev/null |
		sed -n '/^Keys/,$s/^ *\([a-z_]*\)  .*/\1=/p'
}

# What a command reads or is told when no option is asked for.
_tailback_operand()
{
	case $1 in
	synth) _tailback_words "$(_tailback_jobs)" ;;
	counters) _tailback_files '.' ;;
	sweep)
		_tailback_words "$(_tailback_experiments)"
		_tailback_files '\.ini$'
		;;
	replay) _tailback_files '\.(pcap|pcapng|cap|goal|tbt|bin|cm)(\.(gz|zst|xz|lz4|bz2))?$' ;;
	convert) _tailback_files '\.(otf2|tbt|json|et|prv|goal|bin|cm)(\.(gz|zst|xz|lz4|bz2))?$' ;;
	info) _tailback_files '\.(pcap|pcapng|cap|goal|tbt|bin|cm|db)(\.(gz|zst|xz|lz4|bz2))?$' ;;
	view) _tailback_files '\.(db|pcap|pcapng|cap|goal|tbt|bin)(\.(gz|zst|xz|lz4|bz2))?$' ;;
	advise | matrix | merge | plot | report | compare | timeline | top) _tailback_files '\.db$' ;;
	esac
}

_tailback()
{
	local cur prev command equals=
	cur=${COMP_WORDS[COMP_CWORD]}
	prev=${COMP_WORDS[COMP_CWORD - 1]}
	COMPREPLY=()
	if ((COMP_CWORD == 1)); then
		_tailback_words "$("${COMP_WORDS[0]}" --help 2>/dev/null |
			sed -n 's/^  \([a-z][a-z]*\)  *[a-z].*/\1/p') --help --version"
		return
	fi
	command=${COMP_WORDS[1]}
	# "--option=value" comes as three words.
	if [[ $cur == '=' ]]; then
		cur=
		equals=1
	elif [[ $prev == '=' ]]; then
		prev=${COMP_WORDS[COMP_CWORD - 2]}
		equals=1
	fi
	if _tailback_value "$command" "$prev"; then
		return
	elif [[ $cur == -* ]]; then
		_tailback_words "$("${COMP_WORDS[0]}" "$command" --help 2>/dev/null |
			grep -oE '(^ *|, )-{1,2}[A-Za-z?][A-Za-z-]*' | grep -oE -- '-.*')"
	else
		_tailback_operand "$command"
	fi
}

complete -F _tailback tailback
