// What ranks did when, and the critical path, in the store: the tables rank_span,
// call_span, path_step and path_total. Private to analyze/.
#ifndef TB_STORE_TIMELINE_H
#define TB_STORE_TIMELINE_H

#include "spans.h"
#include "store.h"

#include <stddef.h>

// tb_store_put_spans has `list` pass the spans of ranks, by job, rank and time, to
// `take`, and adds them to the run that was begun last. Returns a negative status of
// `list`.
int tb_store_put_spans(struct tb_store *store,
	int (*list)(void *from,
		int (*take)(void *context, const struct tb_rank_span *span),
		void *context),
	void *from, struct tb_error *error) TB_MUST_USE;

// tb_store_put_path adds the steps of the path, by time, and its totals.
int tb_store_put_path(struct tb_store *store, const struct tb_rank_span *steps,
	size_t n_steps, const struct tb_path_total *totals, size_t n_totals,
	struct tb_error *error) TB_MUST_USE;

// tb_store_put_calls adds the calls of ranks, by job, rank and begin, of `n_all`.
int tb_store_put_calls(struct tb_store *store, const struct tb_call_span *calls, size_t n,
	uint64_t n_all, struct tb_error *error) TB_MUST_USE;

#endif
