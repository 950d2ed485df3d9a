# C sources are laid out as .clang-format says, scripts pass shellcheck, and nothing that was built
# is kept.
set -u
cd "$TB_SOURCE" || exit 1
git rev-parse --is-inside-work-tree >/dev/null 2>&1 || {
	echo "skipped: not a git checkout"
	exit 77
}
for tool in clang-format shellcheck; do
	command -v "$tool" >/dev/null || {
		echo "skipped: no $tool"
		exit 77
	}
done
failed=0
# Another version lays out a few macros otherwise.
laid_out=$(sed -n '1s/.*clang-format \([0-9]*\).*/\1/p' .clang-format)
if clang-format --version | grep -q " $laid_out\."; then
	git ls-files '*.c' '*.h' | xargs -n 100 -P 2 clang-format --dry-run -Werror || failed=1
else
	echo "skipped: the layout, which is that of clang-format $laid_out"
fi
{
	git ls-files '*.sh' '*.bash'
	git grep -lE '^#!.*\b(ba)?sh$'
} | sort -u | xargs shellcheck --shell=bash --external-sources --severity=warning || failed=1
if built=$(git grep -l $'^\x7fELF'); then
	echo "programs are kept: $built"
	failed=1
fi
# Out of memory, getline looks like the end of the file: text_lines.h reads lines.
if git grep -nE '\b(getline|getdelim|ini_parse)\(' -- '*.c' ':!tests'; then
	failed=1
fi
# One sentence for a lack of memory: tb_fail_memory writes it.
if git grep -nE '"[^"]*(no memory|out of memory)|TB_ENOMEM, *"' -- '*.c' '*.h' ':!tests' \
	':!base/ground/status.c' | grep -v ':[[:space:]]*//'; then
	echo "another sentence for a lack of memory: tb_fail_memory has it, and those that call it"
	failed=1
fi
# What is written into a table names its columns, whose order may change.
if git grep -nE 'INSERT (OR [A-Z]+ )?INTO [a-z_]+ (VALUES|SELECT)' -- 'analyze/*.c' | grep -v ':[[:space:]]*//'; then
	echo "an INSERT without the names of its columns"
	failed=1
fi
# A test that does not know the sources ends with 77, which is no success: skip() would be one.
if git grep -nA4 'getenv("TB_SOURCE")' -- 'tests/*.c' | grep 'skip();'; then
	echo "passes without TB_SOURCE"
	failed=1
fi
exit "$failed"
