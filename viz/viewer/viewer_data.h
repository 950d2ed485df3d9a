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
#include "wait_places.h"

// The questions to the run (question.h), each with its last answer. First those that
// depend on what is selected, or on the window.

#define TB_WAITS_MOST 10 // pairs of flows

// Who waits at a link, or at those into a switch, and for whom, in the whole run.
struct tb_waits_question {
	struct tb_question question;
	struct tb_pick at;		// the link or switch that is asked or answered
	struct tb_job_links jobs;	// a row a job; `link` of no use at a switch
	struct tb_heavy_waits heaviest; // TB_WAITS_MOST at most
	struct tb_link_queue queue;	// of a link
};

// Who waited for whom during a span of time. The store keeps these waits in slices that
// may be wider than bins: an answer covers all slices that the span touches,
// job_pairs.listed.span.
struct tb_during {
	struct tb_job_pairs job_pairs;	// sums: all of the wait
	struct tb_heavy_waits heaviest; // of flows, at all links: all that the store has
};

// While another span is read, the answer to the last one stays.
struct tb_during_question {
	struct tb_question question;
	struct tb_span span; // that is asked or answered
	struct tb_during made, shown;
	bool has_shown;
};

// The messages of a flow.
struct tb_messages_question {
	struct tb_question question;
	struct tb_flow_messages_wanted wanted; // that is asked or answered
	struct tb_flow_messages messages;
};

// Who crosses a link or switch.
struct tb_crossing_question {
	struct tb_question question;
	struct tb_crossing_query query; // that is asked or answered
	struct tb_paths *paths;		// its thread's own: a search changes them
	struct tb_crossing crossing;
	const struct tb_flow_table *flows;
};

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
	struct tb_wait_place *places;	// of these
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

// tb_viewer_data_answer asks a question and waits for as long as the caller's patience: 1
// when it is answered, 0 while it is not. A question that was refused is asked no more,
// until tb_viewer_data_retry. Errors as of the question.
int tb_viewer_data_answer(struct tb_viewer_data *data, struct tb_question *question,
	struct tb_error *error) TB_MUST_USE;
void tb_viewer_data_retry(struct tb_viewer_data *data);

// tb_viewer_data_asked_bins returns the width in bins of the window that was asked for,
// tb_viewer_data_window_ps that of the window that is shown in simulated time.
uint64_t tb_viewer_data_asked_bins(const struct tb_viewer_data *data);
double tb_viewer_data_window_ps(const struct tb_viewer_data *data);

// tb_viewer_data_is_dead returns whether a link or switch is dead by the window's end.
bool tb_viewer_data_is_dead(const struct tb_viewer_data *data, tb_time_ps dead_at_ps);

// tb_viewer_data_crossing asks for the flows under way in the window that cross a link or
// switch, _messages for the kept messages of a flow, _waits for who waits at a link or
// switch, _during for who waited for whom in the slices of time that the window touches:
// as tb_viewer_data_answer, and the answer is in of_crossing and so on.
int tb_viewer_data_crossing(struct tb_viewer_data *data, struct tb_pick pick,
	struct tb_error *error) TB_MUST_USE;
int tb_viewer_data_messages(struct tb_viewer_data *data,
	const struct tb_flow_sample *flow, struct tb_error *error) TB_MUST_USE;
int tb_viewer_data_waits(struct tb_viewer_data *data, struct tb_pick at,
	struct tb_error *error) TB_MUST_USE;
int tb_viewer_data_during(
	struct tb_viewer_data *data, struct tb_error *error) TB_MUST_USE;

#endif
