# Prints a program: 14 sends to 1 while six others send to 0.
echo "num_ranks 16"
for r in {0..15}; do
	echo "rank $r {"
	case $r in
	0) for s in 4 5 8 9 12 13; do echo "r$s: recv 1048576b from $s"; done ;;
	1) echo "r: recv 1048576b from 14" ;;
	14) echo "s: send 1048576b to 1" ;;
	4 | 5 | 8 | 9 | 12 | 13) echo "s: send 1048576b to 0" ;;
	esac
	echo "}"
done
