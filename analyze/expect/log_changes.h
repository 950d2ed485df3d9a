// What changed from one log of benchmarks to another: rows of one operation, size and
// ranks beside each other.
//
// Model: a size takes so many times as long in B as in A, by times, else by rates; the
// median of several runs, and the mean of both places. Where a log has several pairs of
// ranks, or groups of hosts, it is that in the middle; which of them are slower than the
// others is told of the largest size. Its scatter is how far runs in one
// log lie apart, but for one in five that is odd, and how far the changes out of place
// and in place do; the largest of the size and those beside it. In logs that have each
// size once it is how far the change lies off the line through those beside it. What
// differs by less than its scatter, or 3 %, is alike; where no scatter is known, 10 %.
#ifndef TB_LOG_CHANGES_H
#define TB_LOG_CHANGES_H

#include "benchmark.h"
#include "format.h"

#include <stdio.h>

struct tb_log_changes; // opaque

// tb_log_changes_new compares the tables of two files of a benchmark, which it borrows.
// Neither need have an operation of the other. TB_ENOMEM.
int tb_log_changes_new(struct tb_log_changes **changes,
	const struct tb_benchmark *benchmark, const char *a, const char *b,
	struct tb_error *error) TB_MUST_USE;
void tb_log_changes_free(struct tb_log_changes *changes);

// tb_log_changes_text returns a sentence about operation `i` of both, what is slowest in
// B first, and which share of A's speed B reaches where it differs most; NULL: there are
// no more.
const char *tb_log_changes_text(
	const struct tb_log_changes *changes, size_t i, double *share);

// tb_log_changes_growth returns by how many percent a size, or a pair, takes longer in B,
// of those beyond their scatter that which does most; 0: none does.
double tb_log_changes_growth(const struct tb_log_changes *changes);

// tb_log_changes_write writes text within `width` characters (0: any), Markdown, or the
// sizes as CSV. Write errors show in ferror(stream). TB_ENOMEM; TB_EUSAGE when the logs
// have nothing in common.
int tb_log_changes_write(const struct tb_log_changes *changes, enum tb_format format,
	unsigned width, FILE *stream, struct tb_error *error) TB_MUST_USE;

#endif
