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

# What stands after option $2 of command $1; false when the option takes nothing known here. The
# program's table of options has the words of an option and which files it takes.
_tailback_value()
{
	local words='' files=''
	[[ $2 == -* ]] || return 1
	case $1:$2 in
	*:--dedup | *:--split-jobs)
		[[ -n $equals ]] || return 1 # the value may be left out
		words=$("${COMP_WORDS[0]}" "$1" --words "$2" 2>/dev/null)
		;;
	*:--collective)
		[[ -n $equals && $prev != --collective ]] && return 1
		_tailback_words "$("${COMP_WORDS[0]}" "$1" --words --collective | sed 's/$/=/')"
		return
		;;
	replay:-H | replay:--host) words=$(_tailback_libraries) ;;
	synth:--algorithm) words=$(_tailback_algorithms) ;;
	plot:--series | plot:--where | sweep:--set) words=$(_tailback_sweep_keys) ;;
	capture:-i | capture:--interface) words="any $(ls /sys/class/net 2>/dev/null)" ;;
	capture:-Z | capture:--relinquish-privileges) words=$(compgen -u) ;;
	*) words=$("${COMP_WORDS[0]}" "$1" --words "$2" 2>/dev/null) ;;
	esac
	files=$("${COMP_WORDS[0]}" "$1" --files "$2" 2>/dev/null)
	[[ -n $words ]] && _tailback_words "$words"
	[[ -n $files ]] && _tailback_files "$files"
	[[ -n $words$files ]]
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
		/^    [a-z]/ && inside && at && !seen[$1]++ { print $1 }'
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

# What a command takes when no option is asked for.
_tailback_operand()
{
	local files
	files=$("${COMP_WORDS[0]}" "$1" --files TRACE 2>/dev/null)
	case $1 in
	synth) _tailback_words "$(_tailback_jobs)" ;;
	sweep) _tailback_words "$(_tailback_experiments) plot merge" ;;
	esac
	[[ -z $files ]] || _tailback_files "$files"
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
	if [[ $command == sweep && $COMP_CWORD -gt 2 && ${COMP_WORDS[2]} =~ ^(plot|merge)$ ]]; then
		command=${COMP_WORDS[2]}
	fi
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
		_tailback_words "$("${COMP_WORDS[0]}" "$command" --options 2>/dev/null |
			awk -F '\t' '{ print "--" $2; if ($1 != "-") print "-" $1 }') --help"
	else
		_tailback_operand "$command"
	fi
}

complete -F _tailback tailback
