// What ranks called in both runs, by kind, size and number of members.
#include "array.h"
#include "compare_impl.h"
#include "order.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Calls of one sort, of one of the runs.
struct compared_call {
	const struct tb_call_sort *sort;
	int side;
};

// by_call orders by what both runs have in common: another library may choose another
// algorithm.
static int by_call(const void *one, const void *other)
{
	const struct tb_call_sort *a = ((const struct compared_call *)one)->sort,
				  *b = ((const struct compared_call *)other)->sort;
	int order = strcmp(a->kind, b->kind);
	if (order == 0)
		order = TB_ORDER(a->bytes, b->bytes);
	return order ? order : TB_ORDER(a->n_members, b->n_members);
}

static void add_call(struct tb_call_mover *mover, const struct compared_call *call)
{
	const struct tb_call_sort *sort = call->sort;
	struct tb_call_figures *of = &mover->of[call->side];
	const char **algorithm = &mover->algorithm[call->side];
	mover->kind = sort->kind;
	mover->bytes = sort->bytes;
	mover->n_members = sort->n_members;
	*algorithm = *algorithm && strcmp(*algorithm, sort->algorithm) != 0
			     ? "several"
			     : sort->algorithm;
	of->calls += sort->figures.calls;
	of->sum_ps += sort->figures.sum_ps;
	if (sort->figures.longest_ps > of->longest_ps)
		of->longest_ps = sort->figures.longest_ps;
}

static double call_mean(const struct tb_call_mover *mover, int side)
{
	return tb_calls_figure_of(&mover->of[side], TB_CALLS_MEAN);
}

// call_change returns by how much the calls of A together take longer, or less, in B.
static double call_change(const struct tb_call_mover *mover)
{
	return fabs(call_mean(mover, 1) - call_mean(mover, 0)) *
	       (double)mover->of[0].calls;
}

static int most_changed_call_first(const void *one, const void *other)
{
	const struct tb_call_mover *a = one, *b = other;
	double of_a = call_change(a), of_b = call_change(b);
	int order = TB_ORDER(of_b, of_a);
	if (order == 0)
		order = strcmp(a->kind, b->kind);
	if (order == 0)
		order = TB_ORDER(a->bytes, b->bytes);
	return order ? order : TB_ORDER(a->n_members, b->n_members);
}

int tb_compare_gather_calls(
	struct tb_compare *compare, uint32_t top, struct tb_error *error)
{
	struct compared_call *calls = NULL;
	size_t n = 0, room = 0;
	int status = TB_OK;
	for (int side = 0; side < 2 && !status; side++) {
		struct tb_call_spans *spans = &compare->call_spans[side];
		status = tb_call_spans_init(
			spans, compare->runs[side].run, 0, INT64_MAX, error);
		if (!status &&
			TB_ARRAY_RESERVE(&calls, &room, n + spans->n_sorts + 1) != TB_OK)
			status = tb_fail_memory(error, "a comparison");
		for (size_t i = 0; i < spans->n_sorts && !status; i++)
			calls[n++] = (struct compared_call){&spans->sorts[i], side};
	}
	if (!status) {
		compare->calls = calloc(n + 1, sizeof *compare->calls);
		qsort(calls, n, sizeof *calls, by_call);
		if (!compare->calls)
			status = tb_fail_memory(error, "a comparison");
	}
	compare->same_calls =
		n && !compare->call_spans[0].n_left && !compare->call_spans[1].n_left;
	for (size_t i = 0, end; i < n && !status; i = end) {
		struct tb_call_mover mover = {.kind = NULL};
		for (end = i; end < n && by_call(&calls[i], &calls[end]) == 0; end++)
			add_call(&mover, &calls[end]);
		compare->same_calls &= mover.of[0].calls == mover.of[1].calls;
		if (mover.of[0].calls && mover.of[1].calls && call_change(&mover) > 0)
			compare->calls[compare->n_calls_moved++] = mover;
	}
	free(calls);
	if (status)
		return status;
	n = compare->n_calls_moved;
	qsort(compare->calls, n, sizeof *compare->calls, most_changed_call_first);
	compare->n_calls = top && top < n ? top : (uint32_t)n;
	return TB_OK;
}

static void put_compared_algorithm(struct tb_datum *at)
{
	const struct tb_call_mover *mover = at->item;
	at->word = mover->algorithm[at->column->which];
	at->unknown = !*at->word;
}

// put_algorithms puts "ring", or "ring > tree" where B has another.
static void put_algorithms(struct tb_datum *at)
{
	const struct tb_call_mover *mover = at->item;
	const char *const *of = mover->algorithm;
	bool alike = strcmp(of[0], of[1]) == 0;
	tb_put_text(at, "%s%s%s", of[0], alike ? "" : " > ", alike ? "" : of[1]);
	at->word = at->text;
}

static void put_compared_members(struct tb_datum *at)
{
	at->whole = ((const struct tb_call_mover *)at->item)->n_members;
	at->unknown = at->whole == 0;
}

static void put_compared_call(struct tb_datum *at)
{
	const struct tb_call_mover *mover = at->item;
	tb_put_calls_figure(at, &mover->of[at->column->which % 2],
		(enum tb_calls_figure)(at->column->which / 2));
}

static void put_call_change(struct tb_datum *at)
{
	tb_compare_put_change(at, call_mean(at->item, 0), call_mean(at->item, 1));
}

#define CALL(member) TB_MEMBER(struct tb_call_mover, member)

// The figures of calls (call_figures.h), of both runs.
// clang-format off
#define CALL_SIDE(ID, side, kind, key, title, meaning)                                   \
	{key TB_PS_##kind, title, meaning, TB_DATUM_##kind, .put = put_compared_call,    \
		.which = 2 * TB_CALLS_##ID + (side)},
#define CALL_SIDES_KEYS(ID, kind, key, title, meaning)                                   \
	CALL_SIDE(ID, 0, kind, key "_a", NULL, meaning)                                  \
	CALL_SIDE(ID, 1, kind, key "_b", NULL, "The same in the second run")
#define CALL_SIDES_YES(ID, kind, key, title, meaning)                                    \
	CALL_SIDE(ID, 0, kind, key "_a", title " in A", meaning)                         \
	CALL_SIDE(ID, 1, kind, key "_b", "In B", "The same in the second run")
#define OF_CALLS(ID, formula, kind, key, compared, title, meaning)                       \
	CALL_SIDES_##compared(ID, kind, key, title, meaning)
// clang-format on

static const struct tb_column call_columns[] = {
	{"call", "Call", "What ranks called", TB_DATUM_TEXT, CALL(kind)},
	{NULL, "Algorithm", "By which a collective call became messages", TB_DATUM_TEXT,
		.put = put_algorithms},
	{"algorithm_a", NULL, "By which a collective call became messages", TB_DATUM_TEXT,
		.put = put_compared_algorithm, .flags = TB_COLUMN_NULL},
	{"algorithm_b", NULL, "The same in the second run", TB_DATUM_TEXT,
		.put = put_compared_algorithm, .flags = TB_COLUMN_NULL, .which = 1},
	{"bytes", "Size", "Of a message; of a collective call what the rank gave it",
		TB_DATUM_SIZE, CALL(bytes)},
	{"members", "Members", "Of a collective call whose blocks are alike",
		TB_DATUM_COUNT, .put = put_compared_members, .flags = TB_COLUMN_NULL},
	// clang-format off
	TB_CALL_COLUMNS(OF_CALLS)
	// clang-format on
	{NULL, "Change", "Of the mean, against A", TB_DATUM_RATIO,
		.put = put_call_change},
};

const struct tb_table_type tb_compare_list_calls = {"calls", "Calls that changed most",
	"What ranks called in both runs, by kind, size and number of members, most "
	"changed in all first.",
	TB_COLUMNS(call_columns), TB_ROWS(struct tb_compare, calls),
	.n = TB_COUNT(struct tb_compare, n_calls),
	.n_all = TB_COUNT(struct tb_compare, n_calls_moved),
	.what = "sorts of calls whose time changed"};
