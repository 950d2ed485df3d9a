# Writes docs/cases.md and its pictures: five cases of real inputs, each with its commands, what they
# print, and a picture, all of them made here.
#   cases.sh TAILBACK FOLDER     the page and its pictures, into FOLDER
# It runs in the source tree.
set -eu
programs=$(realpath "$(dirname "$1")")
export PATH=$programs:$PATH LC_ALL=C.UTF-8 TZ=UTC TERM=dumb COLUMNS=80
unset DISPLAY WAYLAND_DISPLAY
mkdir -p "$2/pictures"
into=$(realpath "$2") real=tests/real/data
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
ln -s "$PWD/tests" "$scratch"
cd "$scratch"

# try COMMAND...: shows them and runs them without a word.
try() {
	printf '```sh\n'
	printf '%s\n' "$@"
	printf '```\n\n'
	for line; do
		sh -c "$line" >/dev/null 2>err || { cat err >&2; exit 1; }
	done
}

# say COMMAND: what it prints, as a block.
say() {
	printf '```\n'
	sh -c "$1"
	printf '```\n\n'
}

# opening STORE: the paragraphs with which its report opens.
opening() {
	say "tailback report $1 | sed -n '3,/^Worth/p' | sed '/^Worth/d' | cat -s | sed '\$ { /^\$/d }'"
}

# first N STORE: the first N sentences of that.
first() {
	say "tailback report $2 | awk 'NR > 2 && !NF { exit } NR > 2' | tr '\n' ' ' | sed -E 's/[.] ([A-Z])/.\n\\1/g' |
		head -$1 | tr '\n' ' ' | fold -s -w 80 | sed -E 's/ +\$//'; echo"
}

# drawn NAME COMMAND TITLE: a picture, made by a command that its file's name ends.
drawn() {
	sh -c "$2 $into/pictures/$1.png" >/dev/null
	# shellcheck disable=SC2016
	printf '`%s %s.png`:\n\n![%s](pictures/%s.png)\n\n' "$2" "${1#case_}" "$3" "$1"
}

{
	cat <<-END
		# Five cases

		Real inputs, from the question to the answer. All commands run in the source tree; \`docs/cases.sh\` made this page with them, and a
		test makes it again.

		## Storage is slow when all clients write

		Twelve clients write 1 MB at once to four servers whose ports carry 200 Mbit/s. A switch captured half a second of it. Which link is
		to blame, and what would help?

	END
	try "tailback replay $real/captures/io16_burst.pcap.zst -n recorded --closed-loop -o storage.db" \
		"tailback report storage.db"
	opening storage.db
	cat <<-END
		The four links to the servers are, and nothing else: each client has room to spare. \`tailback advise storage.db\` tries what would help:

	END
	say "tailback advise storage.db -q --width 112 | sed -n '/^Changes/,/^ *Against/p' | sed '1d; \$d'"
	cat <<-END
		Ports twice as fast at the servers alone bring more than half of what they bring at all nodes.

	END
	drawn case_storage "tailback matrix storage.db -o" "The links to four servers hold all wait"

	cat <<-END
		## Three jobs share a network: who slows whom?

		LAMMPS, collective calls and writes to servers ran at the same time, on nodes between each other's. Their capture names no jobs; who
		talks to whom does. Here they share a tree of 64 nodes with half of the cables up:

	END
	try "tailback replay $real/captures/mix64_jobs.pcap.zst --closed-loop --split-jobs=lammps,coll,io --alone \\
  -n ethernet-shaped,arity=4,levels=3,taper=2,rate=200Mbit/s -o jobs.db" \
		"tailback report jobs.db --full"
	say "tailback report jobs.db --full --width 120 | awk '/Run time +Alone/ { on = 1 } on && !NF { exit } on'"
	cat <<-END
		The other jobs cost LAMMPS a fifth of its time, though the collective calls are what waits most; the servers' clients notice nothing.
		The report's findings say which job waits for which. (The check by itself of each job misses what was captured by 64 %: they were captured
		beside each other. So the times are this replay's; who slows whom is what it shows.)

	END
	drawn case_jobs "tailback matrix jobs.db -o" "Wait by link of three jobs on a tapered tree"

	cat <<-END
		## A fabric that is not what was ordered

		What \`ibnetdiscover\` printed of a real cluster is enough; nothing is replayed:

	END
	try "tailback network $real/fabric/stage-qdr-fdr10.ibnetdiscover"
	say "tailback network $real/fabric/stage-qdr-fdr10.ibnetdiscover | awk '!NF { exit } 1'"
	cat <<-END
		One cable is missing, three hosts hang where only switches should, and no choice of routes gives every host its link: the leaves have
		a bit more than two links down for one up.

	END
	drawn case_fabric "tailback network $real/fabric/stage-qdr-fdr10.ibnetdiscover -o" \
		"Pairs of hosts by link of the fabric"

	cat <<-END
		## A training step: is it the network?

		A profile of PyTorch of one rank, for 64 that do what it does, on eight hosts of NDR InfiniBand:

	END
	try "tailback replay $real/kineto/hta-nccl_data.json.gz -n ib-ndr --clone-ranks 64 --per-node 8 -o step.db" \
		"tailback report step.db"
	first 3 step.db
	cat <<-END
		It is not: all but a thousandth of the step is computation, and an ideal network would take as long.

	END
	drawn case_step "SDL_VIDEODRIVER=dummy tailback view step.db --view ranks --size 1200x640 --screenshot" \
		"What the ranks did when, in the viewer"

	cat <<-END
		## Half of the cables up: what would a taper cost?

		Every node sends 2 MB to another one, no two to the same. The tree of 1024 nodes has all its cables, then half of those up:

	END
	try "tailback replay $real/flows/uet-perm_1024n_1024c_0u_2000000b.cm -n roce-400,arity=32,levels=2 -o full.db" \
		"tailback replay $real/flows/uet-perm_1024n_1024c_0u_2000000b.cm -n roce-400,arity=32,levels=2,taper=2 -o half.db" \
		"tailback report full.db" "tailback report half.db"
	first 3 full.db
	first 3 half.db
	cat <<-END
		The routes cost more than the cables: both hash flows to their way up, and ideal routes over all cables would take a fifth of the time.
		Half the cables with adaptive routes beat all of them without:

	END
	try "tailback replay $real/flows/uet-perm_1024n_1024c_0u_2000000b.cm -n roce-400,arity=32,levels=2,taper=2,ascent=adaptive -o adaptive.db"
	say "tailback report adaptive.db | sed -n 1p"
	drawn case_taper "tailback matrix half.db -o" "Wait by group of switches with half of the cables up"
} >"$into/cases.md"
