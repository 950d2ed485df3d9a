// Classes of rows, and how right the model was for each on measured clusters.
#include "expect_impl.h"
#include "schemas.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The table is schemas/expected.csv, which tests/measured/ranges.py makes: a line per
// class, with the range of measured speed over expected speed that 90 % of its rows lie
// in, widened by what rows of a cluster differ from those of others.
static const char *expect_kind_word(const struct expect_row *row)
{
	static const char *const words[] = {[TB_BENCH_COLLECTIVE] = "",
		[TB_BENCH_LATENCY] = "latency",
		[TB_BENCH_STREAM] = "stream",
		[TB_BENCH_BOTH_WAYS] = "both-ways",
		[TB_BENCH_PAIRS] = "stream", // several streams at once
		[TB_BENCH_NEIGHBORS] = "neighbors",
		[TB_BENCH_EXCHANGE] = "exchange"};
	return row->row->kind == TB_BENCH_COLLECTIVE ? tb_collective_op_name(row->row->op)
						     : words[row->row->kind];
}

static const char *expect_size_word(uint64_t bytes)
{
	return bytes < UINT64_C(1) << 20    ? "small"
	       : bytes < UINT64_C(64) << 20 ? "middle"
					    : "large";
}

void expect_class_range(struct expect_row *row)
{
	char key[128];
	int n = snprintf(key, sizeof key, "\n%s,%s,%s,%s,", expect_kind_word(row),
		expect_size_word(row->row->printed_bytes), row->setup->family,
		row->call->n_hosts > 1 ? "several" : "one");
	const char *line = strstr(tb_schema_expected_csv, key);
	double figures[4];
	if (!line)
		return;
	char *at = (char *)(uintptr_t)(line + n);
	for (int i = 0; i < 4; i++) {
		figures[i] = strtod(at, &at);
		at += *at == ',';
	}
	row->n_rows = figures[0];
	row->n_clusters = figures[1];
	row->low = figures[2];
	row->high = figures[3];
}
