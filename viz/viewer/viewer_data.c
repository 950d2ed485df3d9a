#include "viewer_data.h"

#include "order.h"
#include "progress.h"
#include "recorded_congestion.h"
#include "scale.h"

#include <stdlib.h>
#include <string.h>

static void drop_waits(struct tb_waits_question *asked)
{
	tb_job_links_fini(&asked->jobs);
	tb_heavy_waits_fini(&asked->heaviest);
	asked->queue = (struct tb_link_queue){0};
}

static int run_by_wait(const void *one, const void *other)
{
	const struct tb_job_link_sample *a = one, *b = other;
	return a->wait_ps != b->wait_ps ? TB_ORDER(b->wait_ps, a->wait_ps)
					: TB_ORDER(a->job, b->job);
}

// sum_by_job leaves a row per job.
static void sum_by_job(struct tb_job_links *jobs)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < jobs->n; i++) {
		const struct tb_job_link_sample row = jobs->rows[i];
		uint32_t at = 0;
		while (at < n && jobs->rows[at].job != row.job)
			at++;
		if (at == n) {
			jobs->rows[n++] = row;
			continue;
		}
		jobs->rows[at].wait_ps += row.wait_ps;
		jobs->rows[at].blamed_ps += row.blamed_ps;
	}
	jobs->n = n;
	if (n)
		qsort(jobs->rows, n, sizeof *jobs->rows, run_by_wait);
}

// read_run_jobs reads the jobs at the links that lead into a switch.
static int read_run_jobs(struct tb_job_links *jobs, struct tb_run *run, uint32_t sw,
	struct tb_error *error)
{
	const struct tb_run_link *all = tb_run_links(run);
	uint32_t n = 0, n_links = tb_run_info(run)->n_links;
	struct tb_link *links = malloc((n_links + 1u) * sizeof *links);
	if (!links)
		return tb_fail_memory(error, "the jobs at a switch");
	for (uint32_t i = 0; i < n_links; i++)
		if (all[i].at.kind != TB_LINK_EJECTION && all[i].at.to == sw)
			links[n++] = (struct tb_link){i};
	int status = tb_job_links_init(jobs, run, links, n, error);
	free(links);
	if (status == TB_OK)
		sum_by_job(jobs);
	return status;
}

static int read_run_waits(
	struct tb_question *question, struct tb_run *run, struct tb_error *error)
{
	struct tb_waits_question *asked = (struct tb_waits_question *)question;
	const struct tb_link link = {asked->at.index};
	const struct tb_switch sw = {asked->at.index};
	bool of_switch = asked->at.kind == TB_PICK_SWITCH;
	drop_waits(asked);
	int status = of_switch ? read_run_jobs(&asked->jobs, run, sw.id, error)
			       : tb_job_links_init(&asked->jobs, run, &link, 1, error);
	if (!status && !of_switch)
		status = tb_link_queues_find(
			&asked->queue, run, TB_WAIT_FOR, &link, 1, error);
	if (status)
		return status;
	return of_switch ? tb_heavy_waits_into(
				   &asked->heaviest, run, sw, TB_WAITS_MOST, error)
			 : tb_heavy_waits_at(
				   &asked->heaviest, run, link, TB_WAITS_MOST, error);
}

// renew makes a question the next to be asked unless it is the same as before: false
// then, and while one is asked, which stays.
static bool renew(struct tb_question *question, bool same)
{
	if (question->state == TB_ASKED || (question->state != TB_UNASKED && same))
		return false;
	question->state = TB_UNASKED;
	return true;
}

static bool set_waits(struct tb_viewer_data *data, const void *what)
{
	const struct tb_pick *at = what;
	struct tb_waits_question *asked = &data->of_waits;
	if (!renew(&asked->question, tb_pick_equal(asked->at, *at)))
		return false;
	asked->at = *at;
	return true;
}

static void drop_during(struct tb_during *during)
{
	tb_job_pairs_fini(&during->job_pairs);
	tb_heavy_waits_fini(&during->heaviest);
	*during = (struct tb_during){.heaviest = {.rows = NULL}};
}

static int read_during(
	struct tb_question *question, struct tb_run *run, struct tb_error *error)
{
	struct tb_during_question *asked = (struct tb_during_question *)question;
	drop_during(&asked->made);
	int status =
		tb_job_pairs_init(&asked->made.job_pairs, run, asked->span, 0, error);
	if (status == TB_OK)
		status = tb_heavy_waits_during(
			&asked->made.heaviest, run, asked->span, 0, error);
	return status;
}

static void take_during(struct tb_question *question, struct tb_run *run)
{
	struct tb_during_question *asked = (struct tb_during_question *)question;
	struct tb_during before = asked->shown;
	(void)run;
	asked->shown = asked->made;
	asked->made = before;
	asked->has_shown = true;
}

static bool set_during(struct tb_viewer_data *data, const void *what)
{
	const struct tb_span *span = what;
	struct tb_during_question *asked = &data->of_during;
	bool same =
		asked->span.from_ps == span->from_ps && asked->span.to_ps == span->to_ps;
	if (!renew(&asked->question, same))
		return false;
	asked->span = *span;
	return true;
}

static int read_messages(
	struct tb_question *question, struct tb_run *run, struct tb_error *error)
{
	struct tb_messages_question *asked = (struct tb_messages_question *)question;
	tb_flow_messages_fini(&asked->messages);
	return tb_flow_messages_init(&asked->messages, run, &asked->wanted, error);
}

static bool set_messages(struct tb_viewer_data *data, const void *what)
{
	const struct tb_flow_sample *flow = what;
	struct tb_messages_question *asked = &data->of_messages;
	if (!renew(&asked->question,
		    asked->wanted.job == flow->job &&
			    asked->wanted.source.id == flow->source.id &&
			    asked->wanted.destination.id == flow->destination.id))
		return false;
	asked->wanted = (struct tb_flow_messages_wanted){.job = flow->job,
		.source = flow->source,
		.destination = flow->destination,
		.to_ps = INT64_MAX};
	return true;
}

static int find_run_crossing(
	struct tb_question *question, struct tb_run *run, struct tb_error *error)
{
	struct tb_crossing_question *asked = (struct tb_crossing_question *)question;
	int status = asked->paths ? TB_OK : tb_paths_new(&asked->paths, run, error);
	tb_crossing_fini(&asked->crossing);
	if (status == TB_OK)
		status = tb_crossing_init(&asked->crossing, asked->paths, asked->flows,
			&asked->query, error);
	return status;
}

static bool same_query(
	const struct tb_crossing_query *one, const struct tb_crossing_query *other)
{
	return one->of_switch == other->of_switch && one->id == other->id &&
	       one->from_ps == other->from_ps && one->to_ps == other->to_ps &&
	       one->job == other->job;
}

static bool set_crossing(struct tb_viewer_data *data, const void *what)
{
	const struct tb_crossing_query *query = what;
	struct tb_crossing_question *asked = &data->of_crossing;
	if (!renew(&asked->question, same_query(&asked->query, query)))
		return false;
	asked->query = *query;
	asked->flows = &data->of_flows.flows;
	return true;
}

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
	status = tb_wait_places_all(run, asked->heaviest.rows, asked->heaviest.listed.n,
		&asked->places, error);
	if (!status)
		status = tb_job_pairs_init(
			&asked->job_pairs, run, (struct tb_span){0, 0}, 0, error);
	if (status) {
		tb_heavy_waits_fini(&asked->heaviest);
		free(asked->places);
		asked->places = NULL;
	}
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
	data->of_crossing.question = (struct tb_question){
		.what = "finding who crosses it", .read = find_run_crossing};
	data->of_messages.question = (struct tb_question){
		.what = "reading the flow's messages", .read = read_messages};
	data->of_waits.question = (struct tb_question){
		.what = "reading who waits there", .read = read_run_waits};
	data->of_during.question =
		(struct tb_question){.what = "reading who waited for whom in the window",
			.read = read_during,
			.taken = take_during};
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
		(void)!tb_viewer_data_answer(data, &data->of_job_links.question, NULL);
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

// questions_of_run lists the questions whose answers are of the whole run, or of a thing
// in it. Returns their number.
static size_t questions_of_run(
	struct tb_viewer_data *data, struct tb_question *questions[16])
{
	struct tb_question *const all[] = {&data->of_flows.question,
		&data->of_blame.question, &data->of_trees.question,
		&data->of_findings.question, &data->of_times.question,
		&data->of_paths.question, &data->of_crossing.question,
		&data->of_messages.question, &data->of_waits.question,
		&data->of_during.question, &data->of_job_links.question};
	memcpy(questions, all, sizeof all);
	return sizeof all / sizeof *all;
}

void tb_viewer_data_forget(struct tb_viewer_data *data)
{
	struct tb_question *questions[16];
	size_t n = questions_of_run(data, questions);
	for (size_t i = 0; i < n; i++)
		tb_question_drop(questions[i]);
	tb_viewer_data_forget_findings(data);
	tb_paths_free(data->of_crossing.paths);
	data->of_crossing.paths = NULL;
	tb_crossing_fini(&data->of_crossing.crossing);
	tb_flow_messages_fini(&data->of_messages.messages);
	drop_waits(&data->of_waits);
	drop_during(&data->of_during.made);
	drop_during(&data->of_during.shown);
	data->of_during.has_shown = false;
	tb_job_links_fini(&data->of_job_links.jobs);
	tb_flow_table_fini(&data->of_flows.flows);
	data->of_flows.flows = (struct tb_flow_table){.n = 0};
	tb_heavy_waits_fini(&data->of_blame.heaviest);
	free(data->of_blame.places);
	data->of_blame.places = NULL;
	tb_job_pairs_fini(&data->of_blame.job_pairs);
	tb_trees_fini(&data->of_trees.trees);
	data->of_trees.trees = (struct tb_trees){.n = 0};
	free(data->of_trees.wait_ps);
	data->of_trees.wait_ps = NULL;
	free(data->of_times.times);
	data->of_times.times = NULL;
	tb_paths_free(data->of_paths.paths);
	data->of_paths.paths = NULL;
}

int tb_viewer_data_answer(
	struct tb_viewer_data *data, struct tb_question *question, struct tb_error *error)
{
	if (question->state == TB_UNASKED)
		tb_reader_ask(data->reader, question);
	if (question->state == TB_ASKED)
		tb_reader_wait(data->reader, question, data->patience_s);
	if (question->state == TB_ASKED)
		return 0;
	if (question->state == TB_ANSWERED)
		return 1;
	if (error)
		*error = question->error;
	return question->error.code;
}

void tb_viewer_data_retry(struct tb_viewer_data *data)
{
	struct tb_question *questions[16];
	size_t n = questions_of_run(data, questions);
	for (size_t i = 0; i < n; i++)
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

// answer_about asks a question about a thing, which `set` makes the next to be asked for.
static int answer_about(struct tb_viewer_data *data, struct tb_question *question,
	bool (*set)(struct tb_viewer_data *data, const void *what), const void *what,
	struct tb_error *error)
{
	set(data, what);
	int status = tb_viewer_data_answer(data, question, error);
	// The answer may still be the one about what was asked for before.
	if (status > 0 && set(data, what))
		status = tb_viewer_data_answer(data, question, error);
	return status;
}

int tb_viewer_data_crossing(
	struct tb_viewer_data *data, struct tb_pick pick, struct tb_error *error)
{
	struct tb_crossing_query query = {.of_switch = pick.kind == TB_PICK_SWITCH,
		.id = pick.index,
		.to_ps = INT64_MAX,
		.job = data->job};
	if (!tb_window_whole(data->info, data->window)) {
		query.from_ps = tb_window_begin_ps(data->info, data->window);
		query.to_ps = tb_window_end_ps(data->info, data->window);
	}
	int status = tb_viewer_data_answer(data, &data->of_flows.question, error);
	return status > 0 ? answer_about(data, &data->of_crossing.question, set_crossing,
				    &query, error)
			  : status;
}

int tb_viewer_data_messages(struct tb_viewer_data *data,
	const struct tb_flow_sample *flow, struct tb_error *error)
{
	return answer_about(data, &data->of_messages.question, set_messages, flow, error);
}

int tb_viewer_data_waits(
	struct tb_viewer_data *data, struct tb_pick at, struct tb_error *error)
{
	return answer_about(data, &data->of_waits.question, set_waits, &at, error);
}

int tb_viewer_data_during(struct tb_viewer_data *data, struct tb_error *error)
{
	struct tb_span span = tb_span_of_window(data->run, data->window);
	return answer_about(data, &data->of_during.question, set_during, &span, error);
}
