// Reads a list of waits by one SELECT, longest first. Private to this room.
#ifndef TB_WAITS_IMPL_H
#define TB_WAITS_IMPL_H

#include "run_impl.h"
#include "stored_tables.h"
#include "waits.h"

// A list of records of a table, one column of which is wait_ps. `rows` is the SELECT of
// them all: ?1 is the run, ?2 what `key` says, ?3 and ?4 the first slice of time and the
// one after the last.
struct tb_waits_query {
	const struct tb_stored_table *table;
	const char *rows;
	const char *ids; // what it is sorted by where waits are equal: "link, job"
	int64_t key;
	const char *word; // ?2 instead of `key`, unless NULL
};

// tb_waits_list reads the first `top` rows (0: all) into a malloc'ed array that the
// caller frees, and fills in n, n_all, listed_ps and whole_ps, which is the wait of all
// rows. The span in `listed` tells the slices; set it by tb_waits_slices.
int tb_waits_list(struct tb_run *run, const struct tb_waits_query *query, uint32_t top,
	void **rows, struct tb_listed *listed, struct tb_error *error) TB_MUST_USE;

// tb_waits_slices sets listed->span to that of the slices which the span touches.
int tb_waits_slices(struct tb_run *run, struct tb_span span, struct tb_listed *listed,
	struct tb_error *error) TB_MUST_USE;

// tb_waits_slice_end returns the slice after the last that a span which ends at `to_ps`
// touches.
int64_t tb_waits_slice_end(tb_time_ps to_ps, tb_time_ps width_ps);

// tb_waits_span_of returns the time of the slices [from, end); what is beyond the largest
// time ends there.
struct tb_span tb_waits_span_of(uint64_t from, uint64_t end, tb_time_ps width_ps);

// The widths of slices: of root_bin and job_wait, and of blame_bin and tree_bin; 0: none.
struct tb_waits_widths {
	tb_time_ps sum_ps, heaviest_ps;
};
int tb_waits_widths(struct tb_run *run, struct tb_waits_widths *widths,
	struct tb_error *error) TB_MUST_USE;

// tb_waits_left_out reads what a list of the heaviest leaves out.
int tb_waits_left_out(struct tb_run *run, const char *list, struct tb_listed *listed,
	struct tb_error *error) TB_MUST_USE;

// tb_waits_whole sets listed->whole_ps to all wait within listed->span.
int tb_waits_whole(
	struct tb_run *run, struct tb_listed *listed, struct tb_error *error) TB_MUST_USE;

// tb_waits_number reads the one `number` that a SELECT in brackets has of the run; `key`
// is ?2. 0 when there is no row.
int tb_waits_number(struct tb_run *run, const char *sql, int64_t key, double *number,
	struct tb_error *error) TB_MUST_USE;

// tb_waits_read begins to read rows as tb_run_read does. Waits without a job are of job
// 0.
struct tb_row_reader tb_waits_read(struct tb_run *run,
	const struct tb_stored_table *table, const char *from, struct tb_error *error);

#endif
