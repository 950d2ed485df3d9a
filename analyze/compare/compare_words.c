#include "compare_words.h"

#include "report_cells.h"

#include <math.h>
#include <stdarg.h>

void tb_words_append(struct tb_words *words, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	int n = vsnprintf(words->at, words->left, format, args);
	va_end(args);
	size_t used = n < 0 ? 0 : (size_t)n < words->left ? (size_t)n : words->left - 1;
	words->at += used;
	words->left -= used;
}

const char *tb_words_append_times(struct tb_words *words, double before, double after,
	const char *less, const char *more)
{
	char a[32], b[32];
	tb_report_format_time(before, a, sizeof a);
	tb_report_format_time(after, b, sizeof b);
	double percent = before > 0 ? 100 * fabs(after - before) / before : 0;
	bool many = before > 0 && after >= TB_WORDS_TIMES * before;
	if (before == after)
		tb_words_append(words, "no %s (%s)", more, a);
	else if (before == 0)
		tb_words_append(words, "%s (%s against none)", more, b);
	else if (fabs(after - before) < TB_WORDS_NO_CHANGE * before)
		tb_words_append(words, "no %s to speak of (%s against %s)", more, b, a);
	else if (many)
		tb_words_append(words, "%.*f times as long (%s against %s)",
			after < 9.95 * before ? 1 : 0, after / before, b, a);
	else if (after > 0 && after / before < 1 - TB_WORDS_ALL)
		tb_words_append(words, "more than %.1f %% %s (%s against %s)",
			100 * TB_WORDS_ALL, less, b, a);
	else
		tb_words_append(words, "%.1f %% %s (%s against %s)", percent,
			after < before ? less : more, b, a);
	return many ? "as" : "than";
}
