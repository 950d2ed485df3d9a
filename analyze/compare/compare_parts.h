// What a comparison holds, for those who lay it out themselves. What is returned lives as
// long as the comparison.
#ifndef TB_COMPARE_PARTS_H
#define TB_COMPARE_PARTS_H

#include "compare.h"
#include "table.h"

// tb_compare_tables returns all lists in the order in which people read them; those with
// n_shown 0 are not for people.
const struct tb_table *tb_compare_tables(const struct tb_compare *compare, size_t *n);

// A sentence; it lives for the call.
typedef void tb_compare_put(void *context, const char *text);

// tb_compare_put_sides hands out what the runs are: "A  run.db, run 1: melt on qsnet".
// TB_ENOMEM. tb_compare_put_jobs hands out what each job gains or loses, where that is
// not what the verdict says of the run.
int tb_compare_put_sides(
	const struct tb_compare *compare, tb_compare_put *put, void *context) TB_MUST_USE;
void tb_compare_put_jobs(
	const struct tb_compare *compare, tb_compare_put *put, void *context);

#endif
