// Sentences of a comparison, written piece by piece. Private to analyze/.
#ifndef TB_COMPARE_WORDS_H
#define TB_COMPARE_WORDS_H

#include "status.h"

#include <stddef.h>

// A change of less than this share shows as 0.0 %, and is called none.
#define TB_WORDS_NO_CHANGE 0.0005

// A decrease by more than this share is not shown in digits, which would be 100.0 %.
#define TB_WORDS_ALL 0.999

// From so many times as long on, times are compared so and not in percent, which nobody
// reads of large ones.
#define TB_WORDS_TIMES 2

// Where the words continue; what has no room is cut off.
struct tb_words {
	char *at;
	size_t left;
};

void tb_words_append(struct tb_words *words, const char *format, ...) TB_PRINTF(2, 3);

// tb_words_append_times compares two times: "12.3 % less (1.234 ms against 1.4 ms)", "123
// times as long (...)". It returns what stands before the other, "than" or "as".
const char *tb_words_append_times(struct tb_words *words, double before_ps,
	double after_ps, const char *less, const char *more);

#endif
