// tailback replay: open the trace, build the network, run the engine into the store.
#include "cmd_replay.h"

#include "cli.h"
#include "digest.h"
#include "network_open.h"
#include "packets_text.h"
#include "progress.h"
#include "route_file.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A long replay's bins are stored so often, so that whoever looks meanwhile sees it grow.
// Only new bins are told but where they became wider, and a checkpoint that takes long is
// long ago before the next: it costs two parts of a hundred at most.
#define CHECKPOINT_S	1.0
#define WATCHED_S	0.4 // where somebody does
#define CHECKPOINT_REST 50  // times what it took

static int open_network(struct run *run, uint32_t n_nodes)
{
	const struct tb_network_description description = {.name = run->options->network,
		.n_nodes = n_nodes,
		.stop = run->options->stop};
	return tb_network_open(&run->network, &description, &run->error);
}

// names_levels says whether the user wants so many levels and no others.
static bool names_levels(const char *network)
{
	return strstr(network, ",levels=") != NULL;
}

// raise_tree gives captures the nodes that they ask for, unless the user said how many
// levels there are. Jobs that do not fit are refused: how many ranks they have is known
// to whoever made them, and another network than the one that was asked for would answer
// another question.
static int raise_tree(struct run *run)
{
	uint32_t n_nodes = tb_workload_n_nodes(run->workload);
	if (n_nodes <= tb_network_n_hosts(run->network) ||
		names_levels(run->options->network))
		return TB_OK;
	tb_network_free(run->network);
	run->network = NULL;
	run->raised_for = n_nodes;
	return open_network(run, n_nodes);
}

static int open_workload(struct run *run)
{
	const struct replay_options *options = run->options;
	struct tb_workload_options *wanted = &run->wanted;
	*wanted = options->workload;
	if (names_levels(options->network))
		wanted->packets.n_nodes_max = tb_network_n_hosts(run->network);
	int status = tb_workload_new(&run->workload, wanted, &run->error);
	if (status == TB_OK && options->packets_options_used && !replay_has_packets(run))
		status = tb_fail(&run->error, TB_EUSAGE,
			"%s is a job: --time-scale, --squeeze-idle, --dedup and "
			"--keep-... are for packet captures",
			tb_workload_input(run->workload, 0).name);
	if (status == TB_OK)
		status = raise_tree(run);
	if (status == TB_OK)
		status = tb_workload_place(run->workload, run->network, &run->error);
	if (status == TB_OK)
		run->source = tb_workload_source(run->workload);
	return status;
}

static int no_memory(struct run *run)
{
	return tb_fail(&run->error, TB_ENOMEM, "no memory");
}

// name_inputs joins the names of all inputs and lists their files, for the digest.
static int name_inputs(struct run *run)
{
	const struct tb_workload_options *wanted = &run->wanted;
	size_t size = 0;
	FILE *stream = open_memstream(&run->input_name, &size);
	if (!stream)
		return no_memory(run);
	for (uint32_t i = 0; i < tb_workload_n_inputs(run->workload); i++)
		fprintf(stream, "%s%s", i ? ", " : "",
			tb_workload_input(run->workload, i).name);
	if (fclose(stream) != 0)
		return no_memory(run);
	run->files = calloc(wanted->n_traces + wanted->n_jobs + 1, sizeof *run->files);
	if (!run->files)
		return no_memory(run);
	for (size_t i = 0; i < wanted->n_traces; i++)
		run->files[run->n_files++] = wanted->traces[i];
	for (uint32_t i = 0; i < tb_workload_n_inputs(run->workload); i++) {
		struct tb_workload_input input = tb_workload_input(run->workload, i);
		if (!input.is_plain)
			run->files[run->n_files++] = input.name;
	}
	return TB_OK;
}

static struct tb_run_job *list_jobs(const struct run *run)
{
	uint32_t n = tb_workload_n_jobs(run->workload);
	struct tb_run_job *jobs = calloc(n + 1u, sizeof *jobs);
	for (uint32_t i = 0; jobs && i < n; i++) {
		struct tb_workload_job job = tb_workload_job(run->workload, i);
		jobs[i] = (struct tb_run_job){
			job.name, job.input, job.start_ps, job.placement};
	}
	return jobs;
}

// list_places lists where jobs sit that are no captures, whose places the end tells.
static struct tb_run_place *list_places(const struct run *run, size_t *n)
{
	uint32_t n_jobs = tb_workload_n_jobs(run->workload);
	size_t n_ranks = 0;
	for (uint32_t i = 0; i < n_jobs; i++)
		n_ranks += tb_workload_job(run->workload, i).n_ranks;
	struct tb_run_place *places = malloc((n_ranks + 1) * sizeof *places);
	for (uint32_t i = 0; places && i < n_jobs; i++) {
		struct tb_workload_job job = tb_workload_job(run->workload, i);
		for (uint32_t rank = 0; rank < job.n_ranks; rank++)
			places[(*n)++] =
				(struct tb_run_place){i, rank, {job.node_of_rank[rank]}};
	}
	return places;
}

static const char *kind_of_inputs(const struct run *run)
{
	uint32_t n = tb_workload_n_inputs(run->workload), n_packets = 0;
	for (uint32_t i = 0; i < n; i++)
		n_packets += tb_workload_input(run->workload, i).packets != NULL;
	return n_packets == n ? "packets" : n_packets ? "mixed" : "job";
}

int replay_begin_store(struct run *run)
{
	const struct tb_workload_options *wanted = &run->wanted;
	char digest[TB_DIGEST_SIZE] = "";
	uint64_t bytes = 0;
	int status =
		tb_digest_files(run->files, run->n_files, digest, &bytes, &run->error);
	if (status != TB_OK)
		return status;
	size_t n_places = 0;
	struct tb_run_job *jobs = list_jobs(run);
	struct tb_run_place *places = list_places(run, &n_places);
	struct tb_run_config config = {.run = run->id,
		.whole = run->id != 0,
		.input_name = run->input_name,
		.input_kind = kind_of_inputs(run),
		.input_digest = digest,
		.input_bytes = bytes,
		.seed = run->options->seed,
		.time_scale =
			wanted->packets.time_scale > 0 ? wanted->packets.time_scale : 1,
		.options = run->options->described,
		.jobs = jobs,
		.n_jobs = tb_workload_n_jobs(run->workload),
		.places = places,
		.n_places = n_places,
		.faults = run->faults,
		.routes_name = run->options->route_file,
		.routes_digest = run->routes_digest,
		// A run of many is written when it was simulated, stopped or not.
		.stop = run->id ? NULL : run->options->stop};
	status = jobs && places ? tb_store_begin_run(
					  run->store, run->network, &config, &run->error)
				: no_memory(run);
	free(places);
	free(jobs);
	return status;
}

struct tb_engine_stats replay_stats(const struct run *run)
{
	struct tb_engine_stats stats = tb_engine_stats(run->engine);
	if (run->host)
		tb_host_stats(run->host, &stats);
	return stats;
}

static void show_progress(const struct run *run, struct tb_progress *progress)
{
	struct tb_engine_stats stats = replay_stats(run);
	char text[160], simulated[24], delivered[48];
	double wall = tb_clock_s() - progress->started_s;
	snprintf(text, sizeof text, "%s simulated, %s, %.2f M packets/s",
		tb_format_time(stats.now_ps, simulated, sizeof simulated),
		tb_format_counted(
			stats.n_delivered, "message", delivered, sizeof delivered),
		(double)stats.n_packets / wall / 1e6);
	tb_progress_show(progress, tb_workload_fraction(run->workload), text);
}

static bool has_display(void)
{
	static const char *const names[] = {
		"DISPLAY", "WAYLAND_DISPLAY", "SDL_VIDEODRIVER"};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		const char *value = getenv(names[i]);
		if (value && value[0])
			return true;
	}
	return false;
}

static bool shows_in_terminal(const struct run *run)
{
	return run->options->watch && !has_display();
}

// watch shows the store from now on. A replay is not given up because it cannot be seen.
static void watch(struct run *run)
{
	struct tb_error error;
	char text[1024];
	const char *const arguments[] = {
		has_display() ? "view" : "top", "--", run->options->output, NULL};
	// Ctrl-C ends the replay, and lets what it came to be looked at in the window; in
	// the terminal it is the terminal's.
	const struct tb_child_options options = {
		.arguments = arguments, .input = -1, .apart = has_display()};
	if (tb_child_start(&run->watcher, &options, &error) != TB_OK)
		fprintf(stderr, "tailback: warning: %s\n",
			tb_error_format(&error, text, sizeof text));
}

// run_engine runs to the end, to Ctrl-C or to an error; what there is stays to be kept.
static int run_engine(struct run *run)
{
	struct tb_progress progress;
	bool silent = run->options->quiet || shows_in_terminal(run);
	tb_progress_init(&progress, silent ? NULL : stderr);
	double pace_s = run->options->watch ? WATCHED_S : CHECKPOINT_S;
	double checkpoint_s = progress.started_s + pace_s;
	int status;
	while ((status = tb_engine_run(run->engine, REPLAY_SLICE, &run->error)) > 0) {
		if (*run->options->stop) {
			run->stopped = true;
			status = TB_OK;
			break;
		}
		if (tb_progress_due(&progress))
			show_progress(run, &progress);
		double now_s = tb_clock_s();
		if (now_s < checkpoint_s)
			continue;
		status = tb_engine_checkpoint(run->engine, &run->error);
		if (status != TB_OK)
			break;
		double took_s = tb_clock_s() - now_s;
		double rest_s = took_s * CHECKPOINT_REST;
		checkpoint_s = now_s + took_s + (rest_s > pace_s ? rest_s : pace_s);
	}
	run->wall_s = tb_clock_s() - progress.started_s;
	tb_progress_done(&progress);
	return status;
}

// name_nodes calls nodes after the captured endpoints that sit there, and says whose they
// are.
static int name_nodes(struct run *run, uint32_t i)
{
	struct tb_workload_input input = tb_workload_input(run->workload, i);
	uint32_t n = tb_packets_summary(input.packets)->n_nodes;
	uint32_t *n_ranks = calloc(input.n_jobs + 1u, sizeof *n_ranks);
	void *grown = realloc(run->places, (run->n_places + n + 1) * sizeof *run->places);
	if (grown)
		run->places = grown;
	if (!n_ranks || !grown) {
		free(n_ranks);
		return no_memory(run);
	}
	for (uint32_t k = 0; k < n; k++) {
		const char *name =
			tb_packets_node_name(input.packets, (struct tb_node){k});
		if (!*name)
			continue;
		struct tb_node node =
			tb_workload_node(run->workload, i, (struct tb_node){k});
		uint32_t job = tb_packets_job_of(input.packets, (struct tb_node){k});
		run->node_names[node.id] = name;
		run->places[run->n_places++] = (struct tb_run_place){
			input.first_job + job, n_ranks[job]++, node};
	}
	free(n_ranks);
	return TB_OK;
}

static int name_all_nodes(struct run *run)
{
	uint32_t n_nodes = tb_network_n_hosts(run->network);
	run->node_names = calloc(n_nodes + 1u, sizeof *run->node_names);
	if (!run->node_names)
		return no_memory(run);
	for (uint32_t i = 0; i < n_nodes; i++)
		run->node_names[i] = "";
	int status = TB_OK;
	for (uint32_t i = 0; i < tb_workload_n_inputs(run->workload); i++)
		if (status == TB_OK && tb_workload_input(run->workload, i).packets)
			status = name_nodes(run, i);
	return status;
}

// take_notes writes the summary of a lone capture, or of each by the number of its first
// job.
static char *take_notes(const struct run *run)
{
	uint32_t n = tb_workload_n_inputs(run->workload);
	if (n == 1)
		return tb_packets_summary_json(
			tb_workload_input(run->workload, 0).packets,
			replay_peak_rate(run));
	char *text = NULL;
	size_t size = 0;
	FILE *stream = open_memstream(&text, &size);
	if (!stream)
		return NULL;
	fputs("{\"captures\":[", stream);
	bool any = false;
	for (uint32_t i = 0; i < n; i++) {
		struct tb_workload_input input = tb_workload_input(run->workload, i);
		if (!input.packets)
			continue;
		char *one = tb_packets_summary_json(input.packets, replay_peak_rate(run));
		fprintf(stream, "%s{\"job\":%" PRIu32 ",\"summary\":%s}", any ? "," : "",
			input.first_job, one ? one : "{}");
		free(one);
		any = true;
	}
	fputs("]}", stream);
	if (fclose(stream) == 0)
		return text;
	free(text);
	return NULL;
}

int replay_finish(struct run *run)
{
	return tb_engine_finish(run->engine, &run->error);
}

// replay_end_store keeps what was simulated, whole or not.
int replay_end_store(struct run *run, bool complete)
{
	struct tb_engine_stats stats = replay_stats(run);
	int status = TB_OK;
	char *notes = NULL;
	if (replay_has_packets(run)) {
		status = name_all_nodes(run);
		notes = take_notes(run);
	}
	struct tb_run_result result = {.complete = complete,
		.simulated_ps = stats.now_ps,
		.n_messages = stats.n_delivered,
		.n_packets = stats.n_packets,
		.payload_bytes = stats.payload_bytes,
		.n_retries = stats.n_retries,
		.n_undelivered = stats.n_undelivered,
		.wall_s = run->wall_s,
		.notes = notes,
		.node_names = run->node_names,
		.n_named = run->node_names ? tb_network_n_hosts(run->network) : 0,
		.places = run->places,
		.n_places = run->n_places};
	if (status == TB_OK)
		status = tb_store_end_run(run->store, &result, &run->error);
	free(notes);
	return status;
}

// The sentence of a store that could not be written is better than the engine's.
static void prefer_store_error(struct run *run)
{
	const struct tb_error *error = run->store ? tb_store_error(run->store) : NULL;
	if (error && error->code != TB_OK)
		run->error = *error;
}

int replay_make_engine(struct run *run)
{
	const struct replay_options *options = run->options;
	struct tb_engine_options engine = {.seed = options->seed,
		.bin_ps = options->bin_ps,
		.without_blame = options->without_blame,
		.faults = run->faults};
	run->nic_source = run->source;
	run->nic_observer = run->observer;
	if (tb_host_is_needed(run->network)) {
		int status = tb_host_new(&run->host, run->network, &run->source,
			&run->observer, tb_engine_ideal_ps, &run->error);
		if (status != TB_OK)
			return status;
		run->nic_source = tb_host_source(run->host);
		run->nic_observer = tb_host_observer(run->host);
	}
	return tb_engine_new(&run->engine, run->network, &run->nic_source,
		&run->nic_observer, &engine, &run->error);
}

// replay keeps what there is also when source or engine failed on the way: a store that
// cannot be written says so once more.
static int replay(struct run *run)
{
	if (run->options->watch)
		watch(run);
	int outcome = run_engine(run);
	struct tb_error cause = run->error;
	int status = replay_finish(run);
	if (status == TB_OK)
		status = replay_end_store(run, outcome == TB_OK && !run->stopped);
	if (status != TB_OK) {
		prefer_store_error(run);
		return status;
	}
	run->error = cause;
	if (shows_in_terminal(run))
		tb_child_wait(&run->watcher); // the screen is its own until it ends
	if (!run->options->quiet && replay_print_summary(run) != TB_OK)
		return TB_EIO;
	replay_warn(run);
	return outcome;
}

static int take_routes(struct run *run)
{
	const char *path = run->options->route_file;
	uint64_t bytes = 0;
	if (!path)
		return TB_OK;
	int status = tb_route_file_open(run->network, path, &run->error);
	return status == TB_OK ? tb_digest_files(&path, 1, run->routes_digest, &bytes,
					 &run->error)
			       : status;
}

// check_broadcast: what the engine would refuse at the first broadcast.
static int check_broadcast(struct run *run)
{
	if (!tb_network_params(run->network)->broadcast ||
		(!run->faults && !run->options->route_file))
		return TB_OK;
	return tb_fail(&run->error, TB_EUSAGE,
		"broadcast = yes: expected no faults and no route file, with which "
		"broadcasts cannot be replayed");
}

int replay_open(struct run *run)
{
	int status = open_network(run, run->options->n_nodes);
	if (status == TB_OK)
		status = open_workload(run);
	if (status == TB_OK)
		status = name_inputs(run);
	if (status == TB_OK)
		status = take_routes(run);
	if (status == TB_OK)
		status = replay_take_faults(run);
	return status == TB_OK ? check_broadcast(run) : status;
}

// prepare begins the run in the store last: what cannot be replayed leaves no trace.
static int prepare(struct run *run)
{
	int status = replay_open(run);
	if (status == TB_OK)
		status = tb_store_create(&run->store, run->options->output, &run->error);
	if (status != TB_OK)
		return status;
	run->observer = replay_observer(run);
	status = replay_make_engine(run);
	return status == TB_OK ? replay_begin_store(run) : status;
}

void replay_close(struct run *run)
{
	tb_engine_free(run->engine);
	tb_host_free(run->host);
	tb_workload_free(run->workload);
	free(run->input_name);
	free(run->files);
	free(run->node_names);
	free(run->places);
	free(run->undelivered);
	tb_faults_free(run->faults);
	tb_network_free(run->network);
}

int replay_run(const struct replay_options *options)
{
	struct run run = {.options = options};
	int status = prepare(&run);
	if (status == TB_OK)
		status = replay(&run);
	int code = TB_EXIT_OK;
	if (status == TB_ESTOPPED && *options->stop) {
		fputs("tailback: stopped before anything was simulated\n", stderr);
		code = TB_EXIT_FAILURE;
	} else if (status < 0) {
		code = tb_cli_fail(&run.error);
	}
	if (status == TB_OK && run.stopped) {
		fprintf(stderr,
			"tailback: stopped early: what was simulated so far is in %s\n",
			options->output);
		code = TB_EXIT_FAILURE;
	}
	replay_close(&run);
	tb_store_free(run.store);
	tb_child_wait(&run.watcher);
	return code;
}
