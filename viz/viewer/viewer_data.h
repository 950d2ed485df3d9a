// The viewer's data of a run: that of the current window and metric, and that of the
// whole run which views requested.
//
// The run is read in the reader's thread (question.h). A caller waits for an answer for
// `patience_s` at most and goes on without; tb_viewer_data_poll takes it later.
//
// A zeroed struct holds no run. Returned pointers live until the run is closed, those to
// the window's samples until another window is shown. A struct with a run must not move.
#ifndef TB_VIEWER_DATA_H
#define TB_VIEWER_DATA_H

#include "crossing.h"
#include "findings.h"
#include "flow_messages.h"
#include "flow_table.h"
#include "heavy_waits.h"
#include "job_times.h"
#include "job_waits.h"
#include "link_queue.h"
#include "matrix.h"
#include "paths.h"
#include "picture.h"
#include "question.h"
#include "recorded.h"
#include "run.h"
#include "run_list.h"
#include "trees.h"

// The questions to the run that depend on what is selected, or on the window, each with
// its last answer (question.h).

// The question who waits at a link, or at those into a switch, and for whom, with the
// last answer (question.h).

#define TB_WAITS_MOST 10 // pairs of flows

struct tb_waits_question {
	struct tb_question question;
	struct tb_pick at; // the link or switch that is asked or answered
	// Of the whole run.
	struct tb_job_links jobs;	// a row a job; `link` of no use at a switch
	struct tb_heavy_waits heaviest; // TB_WAITS_MOST at most
	struct tb_link_queue queue;	// of a link
};

void tb_waits_question_init(struct tb_waits_question *asked);
// tb_waits_question_fini takes the question back and drops the answer; it can be asked
// again. A zeroed struct is fine.
void tb_waits_question_fini(struct tb_waits_question *asked);

// tb_waits_question_set makes a link or switch the next to be asked for: true when it is
// another than before. While one is asked, that stays.
bool tb_waits_question_set(struct tb_waits_question *asked, struct tb_pick at);

// The question who waited for whom during a span of time, with the last answer
// (question.h).
//
// The store keeps these waits in slices of time that may be wider than bins: an answer
// covers all slices that the span touches, job_pairs.listed.span. While another span is
// read, the answer to the last one stays.

struct tb_during {
	struct tb_job_pairs job_pairs;	// sums: all of the wait
	struct tb_heavy_waits heaviest; // of flows, at all links: all that the store has
};

struct tb_during_question {
	struct tb_question question;
	struct tb_span span; // that is asked or answered
	struct tb_during made, shown;
	bool has_shown;
};

void tb_during_question_init(struct tb_during_question *asked);
// tb_during_question_fini takes the question back and drops the answers; it can be asked
// again. A zeroed struct is fine.
void tb_during_question_fini(struct tb_during_question *asked);

// tb_during_question_set makes a span the next to be asked for: true when it is another
// than before. While one is asked, that stays.
bool tb_during_question_set(struct tb_during_question *asked, struct tb_span span);

// The question for the messages of a flow, with the last answer (question.h).

struct tb_messages_question {
	struct tb_question question;
	struct tb_flow_messages_wanted wanted; // that is asked or answered
	struct tb_flow_messages messages;
};

void tb_messages_question_init(struct tb_messages_question *asked);
// tb_messages_question_fini takes the question back and drops the answer; it can be asked
// again. A zeroed struct is fine.
void tb_messages_question_fini(struct tb_messages_question *asked);

// tb_messages_question_set makes all messages of a flow the next to be asked for: true
// when it is another flow than before. While one is asked, that stays.
bool tb_messages_question_set(
	struct tb_messages_question *asked, const struct tb_flow_sample *flow);

// The question who crosses a link or switch, with the last answer (question.h).

struct tb_crossing_question {
	struct tb_question question;
	struct tb_crossing_query query; // that is asked or answered
	const struct tb_flow_table *flows;
	struct tb_paths *paths; // its thread's own: a search changes them
	struct tb_crossing crossing;
};

void tb_crossing_question_init(struct tb_crossing_question *asked);
// tb_crossing_question_fini takes the question back and drops the answer; it can be asked
// again. Call it before the flows are freed. A zeroed struct is fine.
void tb_crossing_question_fini(struct tb_crossing_question *asked);

// tb_crossing_question_set makes a query of a run's flows the next to be asked: true when
// it is another than before. While one is asked, that stays.
bool tb_crossing_question_set(struct tb_crossing_question *asked,
	const struct tb_flow_table *flows, const struct tb_crossing_query *query);

// The samples of a window, in memory of the answer.
struct tb_window_question {
	struct tb_question question;
	struct tb_window window;
	struct tb_link_sample *samples;
	struct tb_viewer_data *data;
};

struct tb_flows_question {
	struct tb_question question;
	struct tb_flow_table flows;
};

struct tb_blame_question {
	struct tb_question question;
	struct tb_heavy_waits heaviest; // all that the store keeps
	struct tb_job_pairs job_pairs;
};

struct tb_trees_question {
	struct tb_question question;
	struct tb_trees trees;
	uint64_t *wait_ps; // at each link, in the whole run
};

struct tb_findings_question {
	struct tb_question question;
	struct tb_findings findings;
	struct tb_recorded recorded;
};

// How long the jobs took, by job.
struct tb_times_question {
	struct tb_question question;
	struct tb_job_times *times;
};

struct tb_paths_question {
	struct tb_question question;
	struct tb_paths *paths;
};

// Whether a writer has added something to the run.
struct tb_refresh_question {
	struct tb_question question;
	bool changed;
	tb_time_ps old_bin_ps; // before the change
	const struct tb_run_info *info;
};

// Bins read in advance.
struct tb_preload_question {
	struct tb_question question;
	uint64_t from;
	bool more; // there may be more to read
};

// How long each job waited at each link, in the whole run.
struct tb_job_links_question {
	struct tb_question question;
	struct tb_job_links jobs;
	struct tb_viewer_data *data;
};

struct tb_viewer_data {
	struct tb_reader *reader;
	const struct tb_run *run; // NULL: nothing to show
	const struct tb_run_info *info;
	struct tb_run_list runs;   // of the store, as it was when the run was opened
	uint32_t n_recorded_lanes; // of the time strip (recorded_congestion.h)

	// How long a caller waits for an answer; negative: as long as it takes.
	double patience_s;

	// Of the window and metric that are shown.
	struct tb_window window;
	enum tb_metric metric;
	struct tb_link_sample *samples; // by link id
	struct tb_matrix matrix;
	struct tb_window asked; // the window that is shown next; else equal to `window`
	bool replaying;		// a replay of the viewer's own still writes the run
	bool is_new;		// not yet taken by tb_viewer_data_take_new
	uint32_t job;		// that flows, and links' waits in the whole run, are
				// filtered to; TB_ID_NONE: all jobs

	struct tb_window_question of_window;
	// Of the whole run, read when first requested.
	struct tb_flows_question of_flows;
	struct tb_blame_question of_blame;
	struct tb_trees_question of_trees;
	struct tb_findings_question of_findings;
	struct tb_times_question of_times;
	struct tb_paths_question of_paths;
	struct tb_crossing_question of_crossing;
	struct tb_messages_question of_messages;
	struct tb_waits_question of_waits;
	struct tb_during_question of_during;
	struct tb_job_links_question of_job_links;
	struct tb_refresh_question of_refresh;
	struct tb_preload_question of_preload;
};

// tb_viewer_data_open opens run number `id` (0: the newest) and reads the samples of all
// of it. Errors as of tb_run_open; call tb_viewer_data_close in either case.
int tb_viewer_data_open(struct tb_viewer_data *data, const char *path, int64_t id,
	struct tb_error *error) TB_MUST_USE;
// tb_viewer_data_close frees everything and leaves the struct zeroed.
void tb_viewer_data_close(struct tb_viewer_data *data);

// tb_viewer_data_show shows another metric at once and asks for another window, which is
// shown when it is read; the last one asked for wins. `anew`: the run has changed. Errors
// as of tb_run_look, if it fails within the caller's patience; the old window stays then.
int tb_viewer_data_show(struct tb_viewer_data *data, struct tb_window window,
	enum tb_metric metric, bool anew, struct tb_error *error) TB_MUST_USE;

// tb_viewer_data_filter shows a job alone, TB_ID_NONE: all, and asks for what that takes.
// tb_viewer_data_is_of_job is true when the links' waits are those of the job alone.
// Errors as of tb_viewer_data_show.
int tb_viewer_data_filter(
	struct tb_viewer_data *data, uint32_t job, struct tb_error *error) TB_MUST_USE;
bool tb_viewer_data_is_of_job(const struct tb_viewer_data *data);

// tb_viewer_data_poll takes the answers that are there; true when there was one. A window
// that cannot be read is given up; the error is stored then, with a negative status.
int tb_viewer_data_poll(struct tb_viewer_data *data, struct tb_error *error) TB_MUST_USE;

// tb_viewer_data_take_new is true once after a window or metric is shown.
bool tb_viewer_data_take_new(struct tb_viewer_data *data);

// tb_viewer_data_forget drops the data of the whole run, because that has grown.
void tb_viewer_data_forget(struct tb_viewer_data *data);

// tb_viewer_data_forget_findings drops the findings alone: something was tried.
void tb_viewer_data_forget_findings(struct tb_viewer_data *data);

// tb_viewer_data_ask asks a question and waits for as long as the caller's patience. A
// question that was refused is asked no more, until tb_viewer_data_retry. NULL while
// there is no answer.
struct tb_question *tb_viewer_data_ask(
	struct tb_viewer_data *data, struct tb_question *question);
void tb_viewer_data_retry(struct tb_viewer_data *data);

// tb_viewer_data_asked_bins returns the width in bins of the window that was asked for,
// tb_viewer_data_window_ps that of the window that is shown in simulated time.
uint64_t tb_viewer_data_asked_bins(const struct tb_viewer_data *data);
double tb_viewer_data_window_ps(const struct tb_viewer_data *data);

// tb_viewer_data_is_dead returns whether a link or switch is dead by the window's end.
bool tb_viewer_data_is_dead(const struct tb_viewer_data *data, tb_time_ps dead_at_ps);

// tb_viewer_data_flows, _blame, _job_pairs, _trees, _times, _findings and _paths return
// data of the whole run, which the first call reads; empty when the run has none, NULL
// while they are being read. Errors as of tb_flow_table_init, tb_heavy_waits_init,
// tb_job_pairs_init, tb_trees_init, tb_job_times_init, tb_findings_init and tb_paths_new.
int tb_viewer_data_flows(struct tb_viewer_data *data, const struct tb_flow_table **flows,
	struct tb_error *error) TB_MUST_USE;
int tb_viewer_data_blame(struct tb_viewer_data *data,
	const struct tb_heavy_waits **heaviest, struct tb_error *error) TB_MUST_USE;
int tb_viewer_data_job_pairs(struct tb_viewer_data *data,
	const struct tb_job_pairs **pairs, struct tb_error *error) TB_MUST_USE;
int tb_viewer_data_trees(struct tb_viewer_data *data, const struct tb_trees **trees,
	struct tb_error *error) TB_MUST_USE;
int tb_viewer_data_times(struct tb_viewer_data *data, const struct tb_job_times **times,
	struct tb_error *error) TB_MUST_USE;
int tb_viewer_data_findings(struct tb_viewer_data *data,
	const struct tb_findings **findings, struct tb_error *error) TB_MUST_USE;
int tb_viewer_data_paths(struct tb_viewer_data *data, struct tb_paths **paths,
	struct tb_error *error) TB_MUST_USE;

// tb_viewer_data_crossing finds the flows under way in the window that cross a link or
// switch; NULL while they are being found. It keeps the last answer. Errors as of
// tb_crossing_init.
int tb_viewer_data_crossing(struct tb_viewer_data *data, struct tb_pick pick,
	const struct tb_crossing **crossing, struct tb_error *error) TB_MUST_USE;

// tb_viewer_data_messages returns the kept messages of a flow, NULL while they are being
// read. It keeps the last answer. Errors as of tb_flow_messages_init.
int tb_viewer_data_messages(struct tb_viewer_data *data,
	const struct tb_flow_sample *flow, const struct tb_flow_messages **messages,
	struct tb_error *error) TB_MUST_USE;

// tb_viewer_data_waits returns who waits at a link or switch in the whole run, NULL while
// that is being read. It keeps the last answer. Errors as of tb_heavy_waits_at.
int tb_viewer_data_waits(struct tb_viewer_data *data, struct tb_pick at,
	const struct tb_waits_question **waits, struct tb_error *error) TB_MUST_USE;

// tb_viewer_data_during returns who waited for whom in the slices of time that the window
// touches, of the whole run too; NULL while nothing of the kind was read, and that of the
// window before while the next is being read. Errors as of tb_heavy_waits_during.
int tb_viewer_data_during(struct tb_viewer_data *data, const struct tb_during **during,
	struct tb_error *error) TB_MUST_USE;

#endif
