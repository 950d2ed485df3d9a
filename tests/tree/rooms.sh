# The rooms are as the READMEs of their floors say: each folder of sources is declared in
# CMakeLists.txt and described with what it sees, a room sees only rooms declared before it, and
# private headers (*_impl.h) stay on their floor, and no two headers share a name.
set -u
cd "$TB_SOURCE" || exit 1
failed=0
complain() {
	echo "$*"
	failed=1
}
declared=$(tr '\n' ' ' <CMakeLists.txt | grep -oE 'tb_room\([a-z0-9_/]+( [^)]*)?\)')
known=" schemas base" # base: the floor as a whole
while read -r line; do
	room=$(sed -E 's/^tb_room\(([a-z0-9_\/]+).*/\1/' <<<"$line")
	sees=$(sed -E 's/ PACKAGES .*/)/; s/^tb_room\([a-z0-9_\/]+ ?//; s/\b(USES|INSIDE)\b//g; s/\)//' <<<"$line" | xargs | sed 's/ /, /g')
	for seen in ${sees//,/}; do
		[[ "$known " == *" $seen "* ]] || complain "$room sees $seen, which is not declared before it"
	done
	known+=" $room"
	floor=${room%%/*}
	grep -qE "^\| \`${room#*/}/\` \| .* \| $sees \|\$" "$floor/README.md" ||
		complain "$floor/README.md has no row '| \`${room#*/}/\` | ... | $sees |'"
done <<<"$declared"
for folder in $(git ls-files 'base/*.c' 'capture/*.c' 'replay/*.c' 'analyze/*.c' 'viz/*.c' 'program/*/*.c' | xargs -n1 dirname | sort -u); do
	[[ "$known " == *" $folder "* ]] || complain "$folder has sources but no tb_room"
done
# Private headers are included on their floor only.
while read -r include; do
	complain "$include: private to another floor"
done < <({
	git ls-files '*_impl.h'
	git grep -E '#include ".*_impl\.h"' -- base capture replay analyze viz program
} | awk '{
	floor = $0
	sub("/.*", "", floor)
	header = $0
	if (!/#include/) {
		sub(".*/", "", header)
		of[floor, header] = 1
		next
	}
	gsub(/.*include "|".*/, "", header)
	if (!((floor, header) in of)) print
}')
# A header is found by its name alone, so each name stands for one.
while read -r header; do
	complain "two headers are called $header"
done < <(git ls-files 'base/*.h' 'capture/*.h' 'replay/*.h' 'analyze/*.h' 'viz/*.h' 'program/*.h' | xargs -n1 basename | sort | uniq -d)
for command in program/cmd_*.c; do
	name=$(sed -E 's/program\/cmd_([a-z]+).*/\1/' <<<"$command")
	grep -q "^tb_command($name " CMakeLists.txt || complain "$command belongs to no tb_command"
done
exit "$failed"
