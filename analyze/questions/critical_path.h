// The critical path of a run: what its end waited for, step by step, by cause, by flow,
// and by the links that held its messages up (replay/workload/timeline.h).
//
// A run without jobs has none.
#ifndef TB_CRITICAL_PATH_H
#define TB_CRITICAL_PATH_H

#include "run.h"
#include "spans.h"
#include "wait_places.h"

struct tb_path_step {
	struct tb_rank_span span;
	struct tb_node source, destination; // of what it sends; TB_ID_NONE: nothing
};

// Where messages on the path were held up, and by which flow. Where and by whom is known
// of flows, over the whole run: what held up a flow's messages on the path is shared out
// in proportion to the flow's waits. What they do not explain, such as retries, or
// waits that the store did not keep, has TB_ID_NONE as place and culprit_job. Where hosts
// keep frames (TCP) the flow that it held up, in its connection, stands as source and
// destination of the culprit.
struct tb_path_link {
	struct tb_wait_place place;
	uint32_t culprit_job;
	struct tb_node culprit_source, culprit_destination;
	tb_time_ps sum_ps;
};

// The time-outs of a connection on the path.
struct tb_path_timeout {
	uint32_t job;
	struct tb_node source, destination;
	uint64_t n;
	tb_time_ps sum_ps;
	// Where frames were lost before those that took it longest, over the whole run,
	// and all bytes of frames lost there; TB_ID_NONE: not known.
	struct tb_link lost;
	uint64_t lost_bytes;
};

// What a cause comes to.
struct tb_path_share {
	uint32_t cause;
	uint64_t n_steps;
	tb_time_ps sum_ps;
	double percent; // of the run time, or of the window
};

struct tb_critical_path {		  // zeroed: none
	struct tb_path_step *steps;	  // by time
	struct tb_path_total *totals;	  // longest first
	struct tb_path_link *links;	  // longest first; their sum is that of held up
	struct tb_path_timeout *timeouts; // longest first; their sum is that of them
	struct tb_path_lost *lost;	  // by connection: of all time-outs
	struct tb_blame_sample *waits;	  // by victim, the longest of each first
	struct tb_wait_place *places;	  // of each of `waits`
	bool connects;			  // hosts keep frames
	bool leaves_out;		  // the store has only the longest waits
	size_t n_steps, steps_room, n_totals, totals_room, n_links, links_room, n_waits;
	size_t n_timeouts, n_lost, timeouts_room, lost_room;
	tb_time_ps causes[TB_PATH_CAUSES];	     // exact: their sum is the run time
	struct tb_path_share shares[TB_PATH_CAUSES]; // of those above 0, longest first
	size_t n_shares;
};

// tb_critical_path_init reads it. Cost: linear in what the store keeps, at most some ten
// thousand steps and waits. TB_EFORMAT when the file is damaged, TB_ENOMEM.
int tb_critical_path_init(struct tb_critical_path *path, struct tb_run *run,
	struct tb_error *error) TB_MUST_USE;

// How long the packets of a link held up the end of the run.
struct tb_link_cost {
	tb_time_ps least_ps;
	bool may_be_more; // of waits that may have been at one of several (wait_places.h)
};

// tb_critical_path_costs stores that of each link. Cost: linear in links, and a look for
// paths per wait of the path's flows. TB_EFORMAT, TB_ENOMEM.
int tb_critical_path_costs(const struct tb_critical_path *path, struct tb_run *run,
	struct tb_link_cost *costs, struct tb_error *error) TB_MUST_USE;

// tb_critical_path_look replaces the waits, of which tb_critical_path_wait finds one, by
// those of a closer look: of a window, so mostly of a step's own message. TB_EFORMAT,
// TB_ENOMEM.
int tb_critical_path_look(struct tb_critical_path *path, struct tb_run *closer,
	struct tb_error *error) TB_MUST_USE;

// tb_critical_path_window has totals, links, causes and shares be those of a window of
// the run: of steps that are merged, of the whole of them. By the waits of a closer look
// at the window the links are its own. TB_ENOMEM.
int tb_critical_path_window(struct tb_critical_path *path, tb_time_ps from_ps,
	tb_time_ps to_ps, struct tb_error *error) TB_MUST_USE;
void tb_critical_path_fini(struct tb_critical_path *path);

// tb_critical_path_wait returns the longest wait of the flow of a step, and where it
// arose (unless `place` is NULL); NULL when the store kept none.
const struct tb_blame_sample *tb_critical_path_wait(const struct tb_critical_path *path,
	const struct tb_path_step *step, struct tb_wait_place *place);

// tb_path_key returns the key of a cause's figure, "path_compute_ps"; tb_path_words says
// what it is: "computing".
const char *tb_path_key(enum tb_path_cause cause);
const char *tb_path_words(enum tb_path_cause cause);

// tb_path_nowhere says what held up what was held up at no link: waits that the store
// left out, or what a run's network has of that kind.
const char *tb_path_nowhere(
	const struct tb_critical_path *path, const struct tb_run_info *info);

#endif
