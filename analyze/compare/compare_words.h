// Sentences of a comparison, written piece by piece. Private to analyze/.
#ifndef TB_COMPARE_WORDS_H
#define TB_COMPARE_WORDS_H

#include "status.h"

#include <stddef.h>

// A change of less than this share shows as 0.0 %, and is called none.
#define TB_WORDS_NO_CHANGE 0.0005

// Where the words continue; what has no room is cut off.
struct tb_words {
	char *at;
	size_t left;
};

void tb_words_append(struct tb_words *words, const char *format, ...) TB_PRINTF(2, 3);

// tb_words_append_times compares two times: "12.3 % less (1.234 ms against 1.4 ms)".
void tb_words_append_times(struct tb_words *words, double before_ps, double after_ps,
	const char *less, const char *more);

#endif
