# tailback.py reads of a store what the program prints of it, and its notebook runs.
for python in python3 /usr/bin/python3; do
	"$python" -c 'import pandas' 2>/dev/null && exec "$python" "$TB_SOURCE/tests/tree/python_module.py"
done
echo "skipped: no Python with pandas"
exit 77
