// Between what the run time of inferred jobs lies, in words.
#ifndef TB_RANGE_TEXT_H
#define TB_RANGE_TEXT_H

#include "run.h"

#include <stdbool.h>
#include <stddef.h>

struct tb_range {
	tb_time_ps least_ps, most_ps;
	tb_time_ps replayed_ps;		      // what the job that was replayed takes
	uint64_t n_calls, n_hidden, n_untold; // see struct tb_run_info
	// By how many percent that job is slower at the captured rate than what was
	// captured; NAN: it was not checked. And by how many its nodes end at another
	// time there, on average, and how many times as long a message takes; 0: unknown.
	double check_percent, node_percent, messages;
	bool of_calls; // the job is of a trace of calls (calls_job.h), not of a capture
};

#define TB_RANGE_TEXT 640

struct tb_range tb_range_of_run(const struct tb_run_info *info);

// tb_range_text writes a sentence. What was replayed is probable if it lies in the range,
// the most is at most twice the least, and its check is within 10 %, its nodes within 5
// %, its messages within a factor of 2; else the sentence says what contradicts it. (Of
// 126 replays of programs of `whatif` and `whatif2` within 10 %, 72 % were within 15 % of
// what was measured, and of the 55 that meet all 98 %.) Of a wide range it has the reason
// and what would make it narrower. Returns buffer, always terminated; TB_RANGE_TEXT bytes
// suffice.
char *tb_range_text(const struct tb_range *range, char *buffer, size_t size);

#endif
