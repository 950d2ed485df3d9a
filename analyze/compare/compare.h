// What changed between two runs: what they were made from, what they came to, and the
// links and flows whose figures moved most; as text, CSV, JSON or Markdown.
//
// The first run is called A and is what was before, the second B what is after. The two
// may differ in anything: links are matched by name, flows by job, source and
// destination, and what only one of the runs has is told. CSV has the links alone. The
// same stores give the same bytes.
#ifndef TB_COMPARE_H
#define TB_COMPARE_H

#include "format.h"
#include "run.h"

#include <stdio.h>

struct tb_compare; // opaque

// What a run is called in a comparison: its store, and the number of the run.
struct tb_compared {
	struct tb_run *run;
	const char *store;
};

// tb_compare_new compares; its lists have at most `top` entries, 0: all. Runs and names
// must live as long as it.
int tb_compare_new(struct tb_compare **compare, struct tb_compared a,
	struct tb_compared b, uint32_t top, struct tb_error *error) TB_MUST_USE;
void tb_compare_free(struct tb_compare *compare);

// tb_compare_wait_growth is by how many percent the wait of all headers is more in B than
// in A, negative when less; infinite when nothing waited in A and something in B.
double tb_compare_wait_growth(const struct tb_compare *compare);

// tb_compare_write writes to `stream`; write errors show in ferror(stream). TB_ENOMEM.
int tb_compare_write(const struct tb_compare *compare, enum tb_format format,
	FILE *stream, struct tb_error *error) TB_MUST_USE;

#endif
