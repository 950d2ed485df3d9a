// The runs of a store, to choose one: what each is of, how much waited in it, and of a
// sweep the settings by which its points differ.
//
// The file is opened read-only and not trusted. Texts are in their visible form
// (visible.h). One thread at a time per object.
#ifndef TB_RUN_LIST_H
#define TB_RUN_LIST_H

#include "run.h"

#include <stdbool.h>
#include <stddef.h>

struct tb_listed_run {
	int64_t id;
	char *input, *network, *options;
	// Of a point: the settings that are not the same for all points, else all of
	// them: "load=0.4 seed=2". NULL: no point of a sweep.
	char *settings;
	uint32_t n_nodes, n_switches;
	uint64_t wait_ps;  // of all headers; 0 before tb_run_list_sums
	uint64_t n_cables; // between switches; the same
	tb_time_ps simulated_ps;
	tb_time_ps ideal_ps; // negative: not known
	bool complete;
};

struct tb_run_list {
	struct tb_listed_run *runs; // by id, ascending
	size_t n, room;
	size_t n_undone; // points of a sweep that have no run yet
};

// tb_run_list_read lists the runs of a store. Errors as of tb_runs_open; *list is empty
// then. Cost: linear in runs and settings.
int tb_run_list_read(
	struct tb_run_list *list, const char *path, struct tb_error *error) TB_MUST_USE;
// tb_run_list_sums reads the waits and cables, too. Cost: linear in the bins and links of
// all runs.
int tb_run_list_sums(
	struct tb_run_list *list, const char *path, struct tb_error *error) TB_MUST_USE;
void tb_run_list_fini(struct tb_run_list *list);

// tb_run_list_of returns the place of a run in the list; n when it has none.
size_t tb_run_list_of(const struct tb_run_list *list, int64_t id);

// tb_runs_unattributed stores for each run of a store, in the order of `runs`, the
// largest difference between its wait by link and any of the sums (by root, by root and
// time, by root and job, by jobs and time, by job and link, by waiting flow, by holding
// flow), in ps; -1 for a run without blame: one that did not end, or was replayed with
// --no-blame. Errors as of tb_runs_open. Cost: reads these sums, about 0.1 us a row.
int tb_runs_unattributed(const char *path, const struct tb_runs *runs,
	int64_t *unattributed_ps, struct tb_error *error) TB_MUST_USE;

#endif
