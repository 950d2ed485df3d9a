#include "viewer_data.h"

#include "recorded_congestion.h"

#include "progress.h"
#include "run_text.h"

#include <stdlib.h>
#include <string.h>

// A window that is no longer wanted is given up when it has taken longer than this: what
// takes less comes to its end, so that a drag or playback shows pictures on the way.
#define SUPERSEDED_S 0.25

#define PRELOAD_BINS 16 // per question, so that it follows the window

static const struct tb_window whole = {0, 0};

static bool same_question(struct tb_window a, struct tb_window b)
{
	return a.first_bin == b.first_bin && a.end_bin == b.end_bin;
}

bool tb_viewer_data_is_of_job(const struct tb_viewer_data *data)
{
	return data->job != TB_ID_NONE && tb_window_whole(data->info, data->window) &&
	       data->of_job_links.question.state == TB_ANSWERED &&
	       data->of_job_links.jobs.n > 0;
}

// keep_job leaves of the links' waits those of the job, when that is known.
static void keep_job(struct tb_viewer_data *data)
{
	const struct tb_job_links *jobs = &data->of_job_links.jobs;
	if (!tb_viewer_data_is_of_job(data))
		return;
	for (uint32_t i = 0; i < data->info->n_links; i++)
		data->samples[i].wait_ps = 0;
	for (uint32_t i = 0; i < jobs->n; i++)
		if (jobs->rows[i].job == data->job)
			data->samples[jobs->rows[i].link.id].wait_ps =
				jobs->rows[i].wait_ps;
}

static int read_data_window(
	struct tb_question *question, struct tb_run *run, struct tb_error *error)
{
	struct tb_window_question *asked = (struct tb_window_question *)question;
	const struct tb_link_sample *samples;
	int status = tb_run_look(run, asked->window, &samples, error);
	if (status == TB_OK)
		memcpy(asked->samples, samples,
			tb_run_info(run)->n_links * sizeof *samples);
	return status;
}

static void take_window(struct tb_question *question, struct tb_run *run)
{
	struct tb_window_question *asked = (struct tb_window_question *)question;
	struct tb_viewer_data *data = asked->data;
	struct tb_link_sample *before = data->samples;
	(void)run;
	data->samples = asked->samples;
	asked->samples = before;
	data->window = asked->window;
	data->is_new = true;
	keep_job(data);
	tb_matrix_fill(&data->matrix, data->samples, data->metric);
}

static int read_job_links(
	struct tb_question *question, struct tb_run *run, struct tb_error *error)
{
	struct tb_job_links_question *asked = (struct tb_job_links_question *)question;
	uint32_t n = tb_run_info(run)->n_links;
	struct tb_link *links = malloc((n + 1u) * sizeof *links);
	if (!links)
		return tb_fail_memory(error, "the jobs at links");
	for (uint32_t i = 0; i < n; i++)
		links[i].id = i;
	int status = tb_job_links_init(&asked->jobs, run, links, n, error);
	free(links);
	return status;
}

static void take_job_links(struct tb_question *question, struct tb_run *run)
{
	struct tb_viewer_data *data = ((struct tb_job_links_question *)question)->data;
	(void)run;
	keep_job(data);
	data->is_new = true;
	tb_matrix_fill(&data->matrix, data->samples, data->metric);
}

static int read_data_flows(
	struct tb_question *question, struct tb_run *run, struct tb_error *error)
{
	struct tb_flows_question *asked = (struct tb_flows_question *)question;
	return tb_flow_table_init(&asked->flows, run, error);
}

static int read_blame(
	struct tb_question *question, struct tb_run *run, struct tb_error *error)
{
	struct tb_blame_question *asked = (struct tb_blame_question *)question;
	int status = tb_heavy_waits_init(&asked->heaviest, run, 0, error);
	if (status)
		return status;
	status = tb_job_pairs_init(
		&asked->job_pairs, run, (struct tb_span){0, 0}, 0, error);
	if (status)
		tb_heavy_waits_fini(&asked->heaviest);
	return status;
}

static int read_findings(
	struct tb_question *question, struct tb_run *run, struct tb_error *error)
{
	struct tb_findings_question *asked = (struct tb_findings_question *)question;
	int status = tb_findings_init(&asked->findings, run, error);
	if (status)
		return status;
	status = tb_recorded_init(&asked->recorded, run, error);
	if (status)
		tb_findings_fini(&asked->findings);
	return status;
}

static int read_data_times(
	struct tb_question *question, struct tb_run *run, struct tb_error *error)
{
	struct tb_times_question *asked = (struct tb_times_question *)question;
	struct tb_jobs jobs;
	int status = tb_jobs_init(&jobs, run, error);
	if (status)
		return status;
	status = tb_job_times_init(&asked->times, &jobs, run, error);
	tb_jobs_fini(&jobs);
	return status;
}

// waits_of_links returns the wait at each link in the whole run; NULL after a failure.
static uint64_t *waits_of_links(struct tb_run *run, struct tb_error *error)
{
	uint32_t n = tb_run_info(run)->n_links;
	struct tb_link_sample *samples = malloc((n + 1u) * sizeof *samples);
	uint64_t *wait_ps = calloc(n + 1u, sizeof *wait_ps);
	int status = samples && wait_ps ? tb_run_samples(run, whole, samples, error)
					: tb_fail_memory(error, "the links' waits");
	for (uint32_t i = 0; i < n && status == TB_OK; i++)
		wait_ps[i] = samples[i].came_by_ps;
	free(samples);
	if (status == TB_OK)
		return wait_ps;
	free(wait_ps);
	return NULL;
}

static int read_data_trees(
	struct tb_question *question, struct tb_run *run, struct tb_error *error)
{
	struct tb_trees_question *asked = (struct tb_trees_question *)question;
	struct tb_error failure;
	asked->wait_ps = waits_of_links(run, &failure);
	if (!asked->wait_ps) {
		if (error)
			*error = failure;
		return failure.code;
	}
	int status = tb_trees_init(&asked->trees, run, error);
	if (status != TB_OK) {
		free(asked->wait_ps);
		asked->wait_ps = NULL;
	}
	return status;
}

static int read_paths(
	struct tb_question *question, struct tb_run *run, struct tb_error *error)
{
	struct tb_paths_question *asked = (struct tb_paths_question *)question;
	return tb_paths_new(&asked->paths, run, error);
}

static int read_refresh(
	struct tb_question *question, struct tb_run *run, struct tb_error *error)
{
	struct tb_refresh_question *asked = (struct tb_refresh_question *)question;
	int status = tb_run_refresh_read(run, error);
	asked->changed = status != 0;
	return status;
}

static void take_refresh(struct tb_question *question, struct tb_run *run)
{
	struct tb_refresh_question *asked = (struct tb_refresh_question *)question;
	asked->old_bin_ps = asked->info->bin_ps;
	tb_run_refresh_take(run);
}

// read_preload is stopped between bins or within one; what was read is kept.
static int read_preload(
	struct tb_question *question, struct tb_run *run, struct tb_error *error)
{
	struct tb_preload_question *asked = (struct tb_preload_question *)question;
	int status = 1;
	for (int i = 0; i < PRELOAD_BINS && status > 0; i++)
		status = tb_run_preload(run, asked->from, error);
	asked->more = status > 0;
	return status;
}

static void prepare_questions(struct tb_viewer_data *data)
{
	data->of_window.question = (struct tb_question){.what = "reading the window",
		.read = read_data_window,
		.taken = take_window,
		.urgent = true};
	data->of_window.data = data;
	data->of_flows.question = (struct tb_question){
		.what = "reading the flows", .read = read_data_flows};
	data->of_blame.question = (struct tb_question){
		.what = "reading who waited for whom", .read = read_blame};
	data->of_trees.question = (struct tb_question){
		.what = "reading the congestion trees", .read = read_data_trees};
	data->of_findings.question = (struct tb_question){
		.what = "finding what the run comes to", .read = read_findings};
	data->of_times.question = (struct tb_question){
		.what = "reading how long the jobs took", .read = read_data_times};
	data->of_paths.question =
		(struct tb_question){.what = "finding the paths", .read = read_paths};
	tb_crossing_question_init(&data->of_crossing);
	tb_messages_question_init(&data->of_messages);
	tb_waits_question_init(&data->of_waits);
	tb_during_question_init(&data->of_during);
	data->of_job_links.question =
		(struct tb_question){.what = "reading where the job waits",
			.read = read_job_links,
			.taken = take_job_links};
	data->of_job_links.data = data;
	data->of_refresh.question =
		(struct tb_question){.what = "reading what the replay has added",
			.read = read_refresh,
			.taken = take_refresh,
			.silent = true};
	data->of_refresh.info = data->info;
	data->of_preload.question = (struct tb_question){.what = "reading ahead",
		.read = read_preload,
		.idle = true,
		.silent = true};
	data->of_preload.more = true;
}

// data_begin makes room for samples, twice, and starts the reader, which takes the run
// over.
static int data_begin(
	struct tb_viewer_data *data, struct tb_run *run, struct tb_error *error)
{
	size_t n = (size_t)data->info->n_links + 1;
	data->samples = malloc(n * sizeof *data->samples);
	data->of_window.samples = malloc(n * sizeof *data->samples);
	if (!data->samples || !data->of_window.samples)
		return tb_fail_memory(error, "the run");
	int status = tb_run_samples(run, whole, data->samples, error);
	if (status == TB_OK)
		status = tb_matrix_lay_out(&data->matrix, run, error);
	return status ? status : tb_reader_new(&data->reader, run, error);
}

int tb_viewer_data_open(
	struct tb_viewer_data *data, const char *path, int64_t id, struct tb_error *error)
{
	struct tb_run *run;
	double patience_s = data->patience_s;
	*data = (struct tb_viewer_data){.patience_s = patience_s, .job = TB_ID_NONE};
	int status = tb_run_open(&run, path, id, error);
	if (status != TB_OK)
		return status;
	data->info = tb_run_info(run);
	// Without the list the run can be shown all the same.
	if (tb_run_list_read(&data->runs, path, NULL) != TB_OK)
		data->runs = (struct tb_run_list){.n = 0};
	status = tb_recorded_lanes(run, &data->n_recorded_lanes, error);
	if (status == TB_OK)
		status = data_begin(data, run, error);
	if (status != TB_OK) {
		tb_run_free(run);
		return status;
	}
	data->run = run;
	prepare_questions(data);
	return TB_OK;
}

void tb_viewer_data_close(struct tb_viewer_data *data)
{
	double patience_s = data->patience_s;
	tb_viewer_data_forget(data);
	tb_reader_free(data->reader);
	tb_matrix_fini(&data->matrix);
	tb_run_list_fini(&data->runs);
	free(data->samples);
	free(data->of_window.samples);
	*data = (struct tb_viewer_data){.patience_s = patience_s, .job = TB_ID_NONE};
}

// ask_window asks for the window that is wanted, unless another one that is under way is
// still to be finished.
static void ask_window(struct tb_viewer_data *data)
{
	struct tb_window_question *asked = &data->of_window;
	bool other = !same_question(asked->window, data->asked);
	if (asked->question.state == TB_ASKED && other &&
		tb_reader_doing(data->reader, SUPERSEDED_S))
		tb_reader_stop(data->reader, &asked->question);
	if (asked->question.state == TB_ASKED)
		return;
	asked->window = data->asked;
	tb_reader_ask(data->reader, &asked->question);
}

static int data_give_up(struct tb_viewer_data *data, struct tb_error *error)
{
	data->asked = data->window;
	data->of_window.question.state = TB_UNASKED;
	if (error)
		*error = data->of_window.question.error;
	return data->of_window.question.error.code;
}

// settle_window asks again when the answer is to a window that is no longer wanted.
static int settle_window(struct tb_viewer_data *data, struct tb_error *error)
{
	const struct tb_window_question *asked = &data->of_window;
	if (asked->question.state == TB_REFUSED)
		return data_give_up(data, error);
	if (!same_question(data->asked, data->window))
		ask_window(data);
	return TB_OK;
}

int tb_viewer_data_show(struct tb_viewer_data *data, struct tb_window window,
	enum tb_metric metric, bool anew, struct tb_error *error)
{
	double end_s = tb_clock_s() + data->patience_s, left_s = data->patience_s;
	int status = TB_OK;
	data->asked = tb_window_whole(data->info, window) ? whole : window;
	if (metric != data->metric || same_question(data->asked, data->window)) {
		data->metric = metric;
		data->is_new = true;
		tb_matrix_fill(&data->matrix, data->samples, metric);
	}
	if (anew)
		tb_question_drop(&data->of_window.question);
	if (anew || !same_question(data->asked, data->window))
		ask_window(data);
	do {
		tb_reader_wait(data->reader, &data->of_window.question, left_s);
		left_s = data->patience_s < 0 ? -1 : end_s - tb_clock_s();
		status = settle_window(data, error);
	} while (status == TB_OK && data->of_window.question.state == TB_ASKED &&
		 (data->patience_s < 0 || left_s > 0));
	return status;
}

int tb_viewer_data_filter(
	struct tb_viewer_data *data, uint32_t job, struct tb_error *error)
{
	data->job = job;
	// Read the links' waits anew: those of the last job are not those of all.
	int status = tb_viewer_data_show(data, data->asked, data->metric, true, error);
	if (status == TB_OK && job != TB_ID_NONE)
		(void)tb_viewer_data_ask(data, &data->of_job_links.question);
	return status;
}

int tb_viewer_data_poll(struct tb_viewer_data *data, struct tb_error *error)
{
	if (!data->reader)
		return 0;
	bool any = tb_reader_poll(data->reader);
	int status = settle_window(data, error);
	return status ? status : any;
}

bool tb_viewer_data_take_new(struct tb_viewer_data *data)
{
	bool is_new = data->is_new;
	data->is_new = false;
	return is_new;
}

void tb_viewer_data_forget_findings(struct tb_viewer_data *data)
{
	tb_question_drop(&data->of_findings.question);
	tb_findings_fini(&data->of_findings.findings);
	tb_recorded_fini(&data->of_findings.recorded);
}

void tb_viewer_data_forget(struct tb_viewer_data *data)
{
	tb_viewer_data_forget_findings(data);
	tb_crossing_question_fini(&data->of_crossing);
	tb_messages_question_fini(&data->of_messages);
	tb_waits_question_fini(&data->of_waits);
	tb_during_question_fini(&data->of_during);
	tb_question_drop(&data->of_job_links.question);
	tb_job_links_fini(&data->of_job_links.jobs);
	tb_question_drop(&data->of_flows.question);
	tb_question_drop(&data->of_blame.question);
	tb_question_drop(&data->of_trees.question);
	tb_question_drop(&data->of_times.question);
	tb_question_drop(&data->of_paths.question);
	tb_flow_table_fini(&data->of_flows.flows);
	tb_heavy_waits_fini(&data->of_blame.heaviest);
	tb_job_pairs_fini(&data->of_blame.job_pairs);
	tb_trees_fini(&data->of_trees.trees);
	free(data->of_trees.wait_ps);
	data->of_trees.wait_ps = NULL;
	free(data->of_times.times);
	data->of_times.times = NULL;
	tb_paths_free(data->of_paths.paths);
	data->of_flows.flows = (struct tb_flow_table){.n = 0};
	data->of_trees.trees = (struct tb_trees){.n = 0};
	data->of_paths.paths = NULL;
}

struct tb_question *tb_viewer_data_ask(
	struct tb_viewer_data *data, struct tb_question *question)
{
	if (question->state == TB_UNASKED)
		tb_reader_ask(data->reader, question);
	if (question->state == TB_ASKED)
		tb_reader_wait(data->reader, question, data->patience_s);
	return question->state == TB_ASKED ? NULL : question;
}

void tb_viewer_data_retry(struct tb_viewer_data *data)
{
	struct tb_question *const questions[] = {&data->of_flows.question,
		&data->of_blame.question, &data->of_trees.question,
		&data->of_findings.question, &data->of_times.question,
		&data->of_paths.question, &data->of_crossing.question,
		&data->of_messages.question, &data->of_waits.question,
		&data->of_during.question, &data->of_job_links.question};
	for (size_t i = 0; i < sizeof questions / sizeof *questions; i++)
		if (questions[i]->state == TB_REFUSED)
			questions[i]->state = TB_UNASKED;
}

uint64_t tb_viewer_data_asked_bins(const struct tb_viewer_data *data)
{
	if (tb_window_whole(data->info, data->asked))
		return data->info->n_bins;
	return data->asked.end_bin - data->asked.first_bin;
}

double tb_viewer_data_window_ps(const struct tb_viewer_data *data)
{
	return (double)(tb_window_end_ps(data->info, data->window) -
			tb_window_begin_ps(data->info, data->window));
}

bool tb_viewer_data_is_dead(const struct tb_viewer_data *data, tb_time_ps dead_at_ps)
{
	return dead_at_ps < tb_window_end_ps(data->info, data->window);
}

// answer_of returns 1 when a question is answered, 0 while it is not.
static int answer_of(
	struct tb_viewer_data *data, struct tb_question *question, struct tb_error *error)
{
	if (!tb_viewer_data_ask(data, question))
		return 0;
	if (question->state == TB_ANSWERED)
		return 1;
	if (error)
		*error = question->error;
	return question->error.code;
}

int tb_viewer_data_flows(struct tb_viewer_data *data, const struct tb_flow_table **flows,
	struct tb_error *error)
{
	int status = answer_of(data, &data->of_flows.question, error);
	if (status >= 0)
		*flows = status ? &data->of_flows.flows : NULL;
	return status < 0 ? status : TB_OK;
}

int tb_viewer_data_blame(struct tb_viewer_data *data,
	const struct tb_heavy_waits **heaviest, struct tb_error *error)
{
	int status = answer_of(data, &data->of_blame.question, error);
	if (status >= 0)
		*heaviest = status ? &data->of_blame.heaviest : NULL;
	return status < 0 ? status : TB_OK;
}

int tb_viewer_data_job_pairs(struct tb_viewer_data *data,
	const struct tb_job_pairs **pairs, struct tb_error *error)
{
	int status = answer_of(data, &data->of_blame.question, error);
	if (status >= 0)
		*pairs = status ? &data->of_blame.job_pairs : NULL;
	return status < 0 ? status : TB_OK;
}

int tb_viewer_data_times(struct tb_viewer_data *data, const struct tb_job_times **times,
	struct tb_error *error)
{
	int status = answer_of(data, &data->of_times.question, error);
	if (status >= 0)
		*times = status ? data->of_times.times : NULL;
	return status < 0 ? status : TB_OK;
}

int tb_viewer_data_findings(struct tb_viewer_data *data,
	const struct tb_findings **findings, struct tb_error *error)
{
	int status = answer_of(data, &data->of_findings.question, error);
	if (status >= 0)
		*findings = status ? &data->of_findings.findings : NULL;
	return status < 0 ? status : TB_OK;
}

int tb_viewer_data_trees(struct tb_viewer_data *data, const struct tb_trees **trees,
	struct tb_error *error)
{
	int status = answer_of(data, &data->of_trees.question, error);
	if (status >= 0)
		*trees = status ? &data->of_trees.trees : NULL;
	return status < 0 ? status : TB_OK;
}

int tb_viewer_data_paths(
	struct tb_viewer_data *data, struct tb_paths **paths, struct tb_error *error)
{
	int status = answer_of(data, &data->of_paths.question, error);
	if (status >= 0)
		*paths = status ? data->of_paths.paths : NULL;
	return status < 0 ? status : TB_OK;
}

int tb_viewer_data_crossing(struct tb_viewer_data *data, struct tb_pick pick,
	const struct tb_crossing **crossing, struct tb_error *error)
{
	const struct tb_flow_table *flows;
	struct tb_crossing_question *asked = &data->of_crossing;
	struct tb_crossing_query query = {.of_switch = pick.kind == TB_PICK_SWITCH,
		.id = pick.index,
		.to_ps = INT64_MAX,
		.job = data->job};
	if (!tb_window_whole(data->info, data->window)) {
		query.from_ps = tb_window_begin_ps(data->info, data->window);
		query.to_ps = tb_window_end_ps(data->info, data->window);
	}
	*crossing = NULL;
	int status = tb_viewer_data_flows(data, &flows, error);
	if (status != TB_OK || !flows)
		return status;
	tb_crossing_question_set(asked, flows, &query);
	status = answer_of(data, &asked->question, error);
	// The answer may still be the one to the query before.
	if (status > 0 && tb_crossing_question_set(asked, flows, &query))
		status = answer_of(data, &asked->question, error);
	if (status > 0)
		*crossing = &asked->crossing;
	return status < 0 ? status : TB_OK;
}

int tb_viewer_data_messages(struct tb_viewer_data *data,
	const struct tb_flow_sample *flow, const struct tb_flow_messages **messages,
	struct tb_error *error)
{
	struct tb_messages_question *asked = &data->of_messages;
	*messages = NULL;
	tb_messages_question_set(asked, flow);
	int status = answer_of(data, &asked->question, error);
	// The answer may still be that of the flow before.
	if (status > 0 && tb_messages_question_set(asked, flow))
		status = answer_of(data, &asked->question, error);
	if (status > 0)
		*messages = &asked->messages;
	return status < 0 ? status : TB_OK;
}

int tb_viewer_data_waits(struct tb_viewer_data *data, struct tb_pick at,
	const struct tb_waits_question **waits, struct tb_error *error)
{
	struct tb_waits_question *asked = &data->of_waits;
	*waits = NULL;
	tb_waits_question_set(asked, at);
	int status = answer_of(data, &asked->question, error);
	// The answer may still be that of the one before.
	if (status > 0 && tb_waits_question_set(asked, at))
		status = answer_of(data, &asked->question, error);
	if (status > 0)
		*waits = asked;
	return status < 0 ? status : TB_OK;
}

int tb_viewer_data_during(struct tb_viewer_data *data, const struct tb_during **during,
	struct tb_error *error)
{
	struct tb_during_question *asked = &data->of_during;
	struct tb_span span = tb_span_of_window(data->run, data->window);
	*during = NULL;
	tb_during_question_set(asked, span);
	int status = answer_of(data, &asked->question, error);
	// The answer may still be that of the window before.
	if (status > 0 && tb_during_question_set(asked, span))
		status = answer_of(data, &asked->question, error);
	if (status >= 0 && asked->has_shown)
		*during = &asked->shown;
	return status < 0 ? status : TB_OK;
}
