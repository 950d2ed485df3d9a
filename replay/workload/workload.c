// Reads the inputs of a workload and finds their kinds and names.
#include "workload_impl.h"

#include "input_files.h"
#include "switchings.h"
#include "text_lines.h"
#include "trace.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int workload_no_memory(struct tb_error *error)
{
	return tb_fail_memory(error, "the inputs");
}

void tb_workload_free_input(struct workload_input *input)
{
	tb_closed_loop_free(input->closed);
	tb_packets_free(input->packets);
	tb_map_file_free(input->map);
	tb_job_free(input->job);
	if (input->pipe.stream)
		fclose(input->pipe.stream);
	free(input->node_of_rank);
	free(input->given_nodes);
	free(input->given_hosts);
	free(input->member);
	free(input->files_text);
	free(input->name);
	free(input->placement);
	tb_job_spec_fini(&input->spec);
}

void tb_workload_free(struct tb_workload *workload)
{
	if (!workload)
		return;
	tb_sources_free(workload->sources);
	for (uint32_t i = 0; workload->inputs && i < workload->n_inputs; i++)
		tb_workload_free_input(&workload->inputs[i]);
	free(workload->inputs);
	free(workload->joined);
	free(workload);
}

// ranks_per_host returns how many consecutive ranks a host has, as far as libraries know:
// as many as per-node gives a node. 0: as the trace says. Where ranks are placed has no
// part in it, so that any placement carries the same messages.
static uint32_t ranks_per_host(
	const struct tb_workload *workload, const struct workload_input *input)
{
	const struct tb_placement *placement = &input->spec.placement;
	if (placement->tasks || placement->hosts || placement->kind == TB_PLACE_TRACE)
		return 0;
	return placement->per_node ? placement->per_node : workload->options->per_node;
}

// workload_read_trace leaves the job NULL for packets, which are opened later.
static int workload_read_trace(const struct tb_workload *workload,
	struct workload_input *input, struct tb_error *error)
{
	struct tb_trace trace;
	struct tb_reading reading = {0};
	if (workload->options->reading)
		reading = *workload->options->reading;
	reading.per_node = ranks_per_host(workload, input);
	reading.spreads_host = workload->options->node.nic_bytes_per_s &&
			       !workload->options->has_local &&
			       input->spec.placement.kind != TB_PLACE_TRACE;
	if (workload->options->node.nic_bytes_per_s)
		reading.node = &workload->options->node;
	reading.work = workload->options->work;
	reading.sends_wait = workload->options->sends_wait;
	reading.bounded = !workload->options->unbounded;
	const struct tb_trace_request request = {.paths = input->files,
		.n = input->n_files,
		.stdin_kind =
			workload->options->stdin_is_job ? TB_TRACE_JOB : TB_TRACE_PACKETS,
		.reading = &reading,
		.pipe = &input->pipe,
		.stop = workload->options->stop};
	int status = tb_trace_pool_read(
		workload->options->pool, &trace, &request, NULL, error);
	if (status != TB_OK)
		return status;
	input->job = trace.job;
	input->is_calls = trace.reader->calls != NULL;
	return TB_OK;
}

static struct workload_input *new_input(struct tb_workload *workload)
{
	return &workload->inputs[workload->n_inputs++];
}

// What a plain input is, before it is read.
struct plain {
	const struct tb_trace_reader *reader; // NULL: a job on standard input
	bool is_packets;
};

static int workload_probe_file(const struct tb_workload *workload, const char *file,
	struct plain *plain, struct tb_error *error)
{
	*plain = (struct plain){NULL, !workload->options->stdin_is_job};
	if (tb_input_is_stream(file))
		return TB_OK;
	int status = tb_trace_find(&plain->reader, file, error);
	if (status == TB_OK)
		plain->is_packets = plain->reader->kind == TB_TRACE_PACKETS;
	return status;
}

// plain_joins returns whether two plain inputs form one: captures, whose packets are
// merged, or files of a format with one file per rank.
static bool plain_joins(const struct plain *a, const struct plain *b)
{
	if (a->is_packets || b->is_packets)
		return a->is_packets && b->is_packets;
	return a->reader && a->reader == b->reader && a->reader->joins;
}

// join_traces makes an input of each job and one of those that are joined, at the place
// of the first of them.
static void join_traces(struct tb_workload *workload, const struct plain *plain)
{
	const struct tb_workload_options *options = workload->options;
	const char **next = workload->joined;
	for (size_t i = 0; i < options->n_traces; i++) {
		bool first = true;
		for (size_t k = 0; k < i && first; k++)
			first = !plain_joins(&plain[k], &plain[i]);
		if (!first)
			continue;
		struct workload_input *input = new_input(workload);
		input->is_plain = true;
		input->files = next;
		for (size_t k = i; k < options->n_traces; k++)
			if (k == i || plain_joins(&plain[i], &plain[k]))
				next[input->n_files++] = options->traces[k];
		next += input->n_files;
	}
}

static int read_specs(struct tb_workload *workload, struct tb_error *error)
{
	const struct tb_workload_options *options = workload->options;
	for (size_t i = 0; i < options->n_jobs; i++) {
		struct workload_input *input = new_input(workload);
		int status = tb_job_spec_parse(&input->spec, options->jobs[i], error);
		if (status != TB_OK)
			return status;
		input->files = &input->spec.file;
		input->n_files = 1;
		status = workload_read_trace(workload, input, error);
		if (status != TB_OK)
			return status;
		if (input->spec.placement.map && input->spec.placement.per_node &&
			!input->is_calls)
			return tb_fail(error, TB_EUSAGE,
				"job '%s': a map gives the ranks per node: per-node "
				"beside "
				"it is the hosts of a trace of calls, and this is none",
				input->spec.file);
	}
	return TB_OK;
}

// is_job returns whether an input is a job, or will be one.
static bool is_job(const struct workload_input *input)
{
	return input->job || input->closes;
}

static char *join_files(const char *const *files, size_t n)
{
	char *text = NULL;
	size_t size = 0;
	FILE *stream = open_memstream(&text, &size);
	if (!stream)
		return NULL;
	for (size_t i = 0; i < n; i++)
		fprintf(stream, "%s%s", i ? ", " : "", files[i]);
	return tb_text_written(stream, &text);
}

static char *describe_placement(const struct workload_input *input)
{
	static const char *const kinds[] = {
		"block", "cyclic", "random", "stride", "map", "trace"};
	const struct tb_placement *placement = &input->spec.placement;
	char *text = NULL;
	size_t size = 0;
	FILE *stream = open_memstream(&text, &size);
	if (!stream)
		return NULL;
	bool is_chosen = input->spec.placed || placement->per_node ||
			 placement->kind == TB_PLACE_TRACE;
	if (input->is_apart)
		fputs("apart", stream); // from the one host of its trace
	else if (is_chosen && placement->kind != TB_PLACE_MAP)
		fputs(kinds[placement->kind], stream);
	if (placement->kind == TB_PLACE_STRIDE)
		fprintf(stream, ":%u", placement->stride);
	if (placement->per_node && !placement->map)
		fprintf(stream, ", %" PRIu32 " a node", placement->per_node);
	if (placement->tasks)
		fprintf(stream, ", %s a host", placement->tasks);
	if (placement->nodes)
		fprintf(stream, " on %s", placement->nodes);
	if (placement->hosts)
		fprintf(stream, " on %s", placement->hosts);
	if (placement->map)
		fprintf(stream, "by %s", placement->map);
	if (placement->map && placement->per_node)
		fprintf(stream, ", of hosts of %" PRIu32, placement->per_node);
	return tb_text_written(stream, &text);
}

// choose_name returns the user's name for the job or, with several jobs, the file's name
// without its folder; names are made unique.
static char *choose_name(const struct tb_workload *workload, uint32_t i)
{
	const struct workload_input *input = &workload->inputs[i];
	const char *wanted = input->spec.name;
	if (!wanted)
		wanted = is_job(input) || workload->n_inputs > 1 ? input->files[0]
								 : "trace";
	const char *slash = strrchr(wanted, '/');
	if (!input->spec.name && workload->n_inputs > 1 && slash)
		wanted = slash + 1;
	uint32_t n_same = 1;
	for (uint32_t k = 0; k < i; k++) {
		size_t length = strlen(wanted);
		const char *name = workload->inputs[k].name;
		if (strncmp(name, wanted, length) == 0 &&
			(name[length] == '\0' || name[length] == '#'))
			n_same++;
	}
	size_t size = strlen(wanted) + 16;
	char *name = malloc(size);
	if (name && n_same > 1)
		snprintf(name, size, "%s#%u", wanted, n_same);
	else if (name)
		memcpy(name, wanted, strlen(wanted) + 1);
	return name;
}

// spreads returns whether all ranks ran on one host and do not stay there: they would not
// use the network. GPUs stay, where the nodes have links for them.
static bool spreads(const struct tb_workload *workload, const struct tb_job *job)
{
	if (job->of_gpus && workload->options->has_local)
		return false;
	for (uint32_t i = 0; i < job->n_ranks; i++)
		if (!job->hosts[i] || !job->hosts[0] ||
			strcmp(job->hosts[i], job->hosts[0]) != 0)
			return false;
	return job->n_ranks > 1;
}

// place_by_traces places jobs that know their hosts, and have no other placement, on
// these.
static int place_by_traces(struct tb_workload *workload, struct tb_error *error)
{
	for (uint32_t i = 0; i < workload->n_inputs; i++) {
		struct workload_input *input = &workload->inputs[i];
		struct tb_placement *placement = &input->spec.placement;
		bool is_asked = placement->kind == TB_PLACE_TRACE;
		bool has_hosts = input->job && input->job->hosts;
		bool is_placed = input->spec.placed || placement->per_node ||
				 workload->options->map;
		if (is_asked && !has_hosts)
			return tb_fail(error, TB_EUSAGE,
				"job '%s': placement=trace, but it does not say on which "
				"hosts its ranks ran",
				input->spec.file);
		input->is_apart = has_hosts && !is_asked && !is_placed &&
				  spreads(workload, input->job);
		if (has_hosts && !input->is_apart && (is_asked || !is_placed)) {
			placement->kind = TB_PLACE_TRACE;
			placement->trace_hosts = (const char *const *)input->job->hosts;
		}
	}
	return TB_OK;
}

static int workload_name_inputs(struct tb_workload *workload, struct tb_error *error)
{
	for (uint32_t i = 0; i < workload->n_inputs; i++) {
		struct workload_input *input = &workload->inputs[i];
		input->files_text = join_files(input->files, input->n_files);
		input->name = choose_name(workload, i);
		input->placement = describe_placement(input);
		if (!input->files_text || !input->name || !input->placement)
			return workload_no_memory(error);
	}
	return TB_OK;
}

// check_map refuses a map together with options that contradict it.
static int check_map(const struct tb_workload *workload, struct tb_error *error)
{
	const struct tb_workload_options *options = workload->options;
	const struct workload_input *first = &workload->inputs[0];
	if (!options->map)
		return TB_OK;
	if (workload->n_inputs > 1)
		return tb_fail(error, TB_EUSAGE,
			"--map is for one input; of several, each has its own: --job "
			"%s,map=%s",
			first->files[0], options->map);
	if (first->spec.placed)
		return tb_fail(error, TB_EUSAGE,
			"'%s' has a placement, so --map would be a second one",
			first->spec.file);
	if (options->split)
		return tb_fail(error, TB_EUSAGE,
			"--map gives the job of each endpoint, which leaves nothing for "
			"--split-jobs to find");
	if (options->per_node)
		return tb_fail(error, TB_EUSAGE,
			"--map gives the node of each rank, so --per-node would be a "
			"second placement");
	return TB_OK;
}

// workload_check_options refuses options that would otherwise be ignored.
static int workload_check_options(
	const struct tb_workload *workload, struct tb_error *error)
{
	const struct tb_workload_options *options = workload->options;
	uint32_t n_stdin = 0, n_captures = 0, n_jobs = 0, n_calls = 0;
	bool closes = false;
	for (uint32_t i = 0; i < workload->n_inputs; i++) {
		const struct workload_input *input = &workload->inputs[i];
		n_captures += !input->job;
		n_jobs += is_job(input);
		closes |= input->closes;
		n_calls += input->is_calls;
		for (size_t k = 0; k < input->n_files; k++)
			n_stdin += strcmp(input->files[k], "-") == 0;
	}
	if (n_stdin > 1)
		return tb_fail(
			error, TB_EUSAGE, "standard input can be only one of the inputs");
	const char *of_calls =
		options->reading ? tb_reading_of_calls(options->reading) : NULL;
	if (of_calls && n_calls == 0)
		return tb_fail(error, TB_EUSAGE,
			"%s is for traces of what a program's ranks called, and none is "
			"among the inputs: GOAL and captures have messages already",
			of_calls);
	if (options->reading && n_calls == 0 && n_captures == 0 && !closes)
		return tb_fail(error, TB_EUSAGE,
			"--lenient is for traces of what a program's ranks called and "
			"for captures, and none is among the inputs: GOAL is read as a "
			"whole");
	if (options->per_node && n_jobs == 0)
		return tb_fail(error, TB_EUSAGE,
			"--per-node is for jobs, and none is among the inputs");
	if (options->hypothesis && !closes)
		return tb_fail(error, TB_EUSAGE,
			"--hypothesis=%s is for packet captures with --closed-loop",
			tb_hypothesis_names[options->hypothesis]);
	if (options->split_names && workload->n_inputs > 1)
		return tb_fail(error, TB_EUSAGE,
			"--split-jobs=%s: names are for one input; of several, the jobs "
			"are called after their captures",
			options->split_names);
	if (options->split && n_captures == 0)
		return tb_fail(error, TB_EUSAGE,
			"--split-jobs is for packet captures, and none is among the "
			"inputs");
	return check_map(workload, error);
}

static int open_inputs(struct tb_workload *workload, struct tb_error *error)
{
	int status = TB_OK;
	for (uint32_t i = 0; status == TB_OK && i < workload->n_inputs; i++) {
		struct workload_input *input = &workload->inputs[i];
		if (!input->job)
			status = tb_workload_open_captures(workload, input, error);
		else
			input->n_ranks = input->job->n_ranks;
		if (status != TB_OK)
			break;
		input->n_jobs = input->job ? 1 : tb_packets_n_jobs(input->packets);
		input->first_job = workload->n_jobs;
		workload->n_jobs += input->n_jobs;
		if (workload->n_jobs > TB_WORKLOAD_JOBS_MAX)
			status = tb_fail(error, TB_ECAPACITY,
				"there are more than %d jobs", TB_WORKLOAD_JOBS_MAX);
	}
	return status;
}

static int read_inputs(struct tb_workload *workload, struct tb_error *error)
{
	const struct tb_workload_options *options = workload->options;
	struct plain *plain = calloc(options->n_traces + 1, sizeof *plain);
	int status = plain ? TB_OK : workload_no_memory(error);
	// A single input is not probed: a pipe can be read only once.
	for (size_t i = 0;
		i < options->n_traces && options->n_traces > 1 && status == TB_OK; i++)
		status = workload_probe_file(
			workload, options->traces[i], &plain[i], error);
	if (status == TB_OK)
		join_traces(workload, plain);
	free(plain);
	for (uint32_t i = 0; i < workload->n_inputs && status == TB_OK; i++)
		status = workload_read_trace(workload, &workload->inputs[i], error);
	if (status == TB_OK)
		status = read_specs(workload, error);
	if (status == TB_OK)
		status = tb_workload_mark_loops(workload, error);
	// Set the number of ranks per node from the options for jobs that set none.
	for (uint32_t i = 0; i < workload->n_inputs; i++) {
		struct workload_input *input = &workload->inputs[i];
		struct tb_placement *placement = &input->spec.placement;
		if (is_job(input) && !placement->per_node && !placement->tasks &&
			!placement->map && !placement->hosts)
			placement->per_node = workload->options->per_node;
	}
	if (status == TB_OK)
		status = place_by_traces(workload, error);
	if (status == TB_OK)
		status = workload_name_inputs(workload, error);
	if (status == TB_OK)
		status = workload_check_options(workload, error);
	if (status == TB_OK)
		status = tb_workload_close_loops(workload, error);
	return status == TB_OK ? open_inputs(workload, error) : status;
}

void tb_workload_take_network(
	struct tb_workload_options *options, const struct tb_network_params *params)
{
	const struct tb_host_params *host = &params->host;
	bool has_links = host->local == TB_LOCAL_LINKS;
	options->work = (struct tb_call_work){.combine = host->combine_bytes_per_s,
		.combine_cached = host->combine_cached_bytes_per_s,
		.pack = host->pack_bytes_per_s,
		.copy = host->local == TB_LOCAL_MEMORY ? host->local_bytes_per_s : 0,
		.cached = host->eager_copy_bytes_per_s,
		.cache_bytes = host->cache_bytes,
		.shared_cache_bytes = host->shared_cache_bytes,
		.fresh = host->fresh_bytes_per_s,
		.pin_ns = (uint64_t)(host->pin_ps / TB_PS_PER_NS),
		.pin_above_bytes = host->handshake_above_bytes,
		.call_ns = (uint64_t)(host->call_ps / TB_PS_PER_NS)};
	options->sends_wait = tb_switching_of(params)->stores;
	options->has_local = host->local != TB_LOCAL_NETWORK;
	options->node = (struct tb_gpu_node){
		.link_bytes_per_s = has_links ? host->local_bytes_per_s : 0,
		.nic_bytes_per_s = params->link_bytes_per_s,
		.n_nics = params->n_rails,
		.n_gpus = host->n_gpus};
}

int tb_workload_new(struct tb_workload **workload,
	const struct tb_workload_options *options, struct tb_error *error)
{
	size_t n = options->n_traces + options->n_jobs;
	if (n == 0)
		return tb_fail(error, TB_EUSAGE, "no trace is named");
	if (n > TB_WORKLOAD_JOBS_MAX)
		return tb_fail(error, TB_ECAPACITY, "there are more than %d inputs",
			TB_WORKLOAD_JOBS_MAX);
	struct tb_workload *made = calloc(1, sizeof *made);
	if (made) {
		made->options = options;
		made->inputs = calloc(n, sizeof *made->inputs);
		made->inputs_room = n;
		made->joined = calloc(n, sizeof *made->joined);
	}
	if (!made || !made->inputs || !made->joined) {
		tb_workload_free(made);
		return workload_no_memory(error);
	}
	int status = read_inputs(made, error);
	if (status != TB_OK) {
		tb_workload_free(made);
		return status;
	}
	*workload = made;
	return TB_OK;
}

uint32_t tb_workload_n_nodes(const struct tb_workload *workload)
{
	const struct workload_input *input = &workload->inputs[0];
	if (workload->n_inputs > 1 || input->job || !input->keeps_nodes)
		return 0;
	return input->map ? tb_map_file_n_nodes(input->map)
			  : tb_packets_summary(input->packets)->n_nodes;
}

// Places a workload on a network and makes its source.

// reserve_nodes keeps other jobs off the nodes that captures name themselves.
static int reserve_nodes(struct tb_workload *workload, uint32_t i,
	struct tb_places *places, struct tb_error *error)
{
	struct workload_input *input = &workload->inputs[i];
	int status = TB_OK;
	for (uint32_t k = 0; status == TB_OK && k < tb_map_file_n_endpoints(input->map);
		k++)
		status = tb_places_take(places, i, input->name,
			tb_map_file_node_at(input->map, k), error);
	return status;
}

// add_note puts the note on how a trace's hosts were found before the other notes of its
// job, as a summary shows only the first ones.
static int add_note(struct tb_job *job, const char *note, struct tb_error *error)
{
	char *notes;
	bool has_notes = job->notes && *job->notes;
	if (asprintf(&notes, "%s%s%s", note, has_notes ? "\n" : "",
		    has_notes ? job->notes : "") < 0)
		return tb_fail_memory(error, "notes");
	free(job->notes);
	job->notes = notes;
	return TB_OK;
}

static int workload_take_nodes(const struct workload_input *input, uint32_t number,
	struct tb_places *places, uint32_t **nodes, struct tb_error *error)
{
	uint32_t n = input->n_together;
	uint32_t *taken = malloc((n + UINT64_C(1)) * sizeof *taken);
	int status = taken ? TB_OK : tb_fail_memory(error, "the places of jobs");
	for (uint32_t i = 0; status == TB_OK && i < n; i++) {
		taken[i] = input->given_nodes[i];
		status = tb_places_take(
			places, number, input->name, (struct tb_node){taken[i]}, error);
	}
	if (status == TB_OK)
		*nodes = taken;
	else
		free(taken);
	return status;
}

int tb_workload_place_together(const struct workload_input *input, uint32_t number,
	struct tb_places *places, uint32_t **nodes, struct tb_error *error)
{
	const struct tb_placement by_name = {.kind = TB_PLACE_TRACE,
		.trace_hosts = input->given_hosts,
		.must_match = true};
	if (input->given_nodes)
		return workload_take_nodes(input, number, places, nodes, error);
	return tb_places_put(places, number, input->name, input->n_together,
		input->given_hosts ? &by_name : &input->spec.placement, nodes, error);
}

static int place_input(struct tb_workload *workload, uint32_t i, struct tb_places *places,
	struct tb_error *error)
{
	struct workload_input *input = &workload->inputs[i];
	if (input->is_part)
		return TB_OK; // with the first
	if (input->n_parts) {
		// Place captures whose jobs are inputs, the first of which is `i`.
		struct workload_input *first = &workload->inputs[i];
		uint32_t *nodes = NULL;
		int status = tb_workload_place_together(first, i, places, &nodes, error);
		for (uint32_t k = 0; status == TB_OK && k < first->n_parts; k++) {
			struct workload_input *part = &first[k];
			part->node_of_rank = malloc((part->n_ranks + UINT64_C(1)) *
						    sizeof *part->node_of_rank);
			if (!part->node_of_rank)
				status = tb_fail_memory(error, "the places of jobs");
			for (uint32_t r = 0; status == TB_OK && r < part->n_ranks; r++)
				part->node_of_rank[r] = nodes[part->member[r]];
		}
		if (status == TB_OK && *tb_places_note(places))
			status = add_note(first->job, tb_places_note(places), error);
		free(nodes);
		return status;
	}
	if (input->keeps_nodes && workload->n_inputs == 1)
		return TB_OK; // what does not fit is left out and reported
	if (input->keeps_nodes)
		return reserve_nodes(workload, i, places, error);
	struct tb_placement placement = input->spec.placement;
	if (workload->options->map && !input->map) {
		placement.kind = TB_PLACE_MAP;
		placement.map = workload->options->map;
	}
	placement.together =
		workload->options->node.link_bytes_per_s && placement.per_node > 1;
	int status = tb_places_put(places, i, input->name, input->n_ranks, &placement,
		&input->node_of_rank, error);
	const char *note =
		input->is_apart
			? "all ranks ran on one host: they are placed as if the "
			  "trace did not say it (placement=trace keeps them there)"
			: tb_places_note(places);
	if (status == TB_OK && input->job && *note)
		status = add_note(input->job, note, error);
	return status;
}

static int workload_make_source(const struct tb_workload *workload,
	struct workload_input *input, struct tb_error *error)
{
	if (!input->job) {
		tb_open_loop_init(&input->open, input->packets, TB_ID_NONE);
		input->source = tb_open_loop_source(&input->open);
		return TB_OK;
	}
	int status = tb_closed_loop_new(&input->closed, input->job, input->node_of_rank,
		0, workload->broadcasts, error);
	if (status == TB_OK && !workload->options->without_log &&
		tb_closed_loop_keep_log(input->closed) != TB_OK)
		status = tb_fail_memory_in(
			error, input->name, "the times of its operations");
	if (status == TB_OK)
		input->source = tb_closed_loop_source(input->closed);
	return status;
}

// join_sources uses a single input that starts at once unchanged.
static int join_sources(struct tb_workload *workload, struct tb_error *error)
{
	const struct workload_input *first = &workload->inputs[0];
	if (workload->n_inputs == 1 && first->spec.start_ps == 0 &&
		(first->job || first->keeps_nodes))
		return TB_OK;
	struct tb_source_part *parts = calloc(workload->n_inputs, sizeof *parts);
	if (!parts)
		return tb_fail_memory(error, "the jobs");
	for (uint32_t i = 0; i < workload->n_inputs; i++) {
		const struct workload_input *input = &workload->inputs[i];
		parts[i] = (struct tb_source_part){.source = input->source,
			.start_ps = input->spec.start_ps,
			.first_job = input->first_job,
			.node_of = input->job ? NULL : input->node_of_rank};
	}
	int status = tb_sources_new(&workload->sources, parts, workload->n_inputs, error);
	free(parts);
	return status;
}

// packets_of returns how many packets an operation sends over the network.
static uint64_t packets_of(const struct workload_input *input, uint32_t rank,
	const struct tb_op *op, uint32_t packet_bytes)
{
	if (op->kind != TB_OP_SEND ||
		input->node_of_rank[rank] == input->node_of_rank[op->peer])
		return 0;
	return op->amount ? (op->amount - 1) / packet_bytes + 1 : 1;
}

int tb_workload_place(struct tb_workload *workload, const struct tb_network *network,
	struct tb_error *error)
{
	struct tb_places *places = NULL;
	workload->n_hosts = tb_network_n_hosts(network);
	workload->broadcasts = tb_network_params(network)->broadcast;
	int status = tb_places_new(&places, network, workload->options->seed, error);
	if (status == TB_OK) {
		// Place jobs with given nodes first; the others take the rest.
		for (int round = 0; round < 2; round++)
			for (uint32_t i = 0; status == TB_OK && i < workload->n_inputs;
				i++) {
				const struct workload_input *input = &workload->inputs[i];
				bool given =
					input->keeps_nodes ||
					tb_placement_names_nodes(&input->spec.placement);
				if (given == (round == 0))
					status = place_input(workload, i, places, error);
			}
	}
	tb_places_free(places);
	for (uint32_t i = 0; status == TB_OK && i < workload->n_inputs; i++) {
		struct workload_input *input = &workload->inputs[i];
		if (input->packets && input->keeps_nodes)
			tb_packets_limit_nodes(input->packets, workload->n_hosts);
		status = workload_make_source(workload, input, error);
	}
	if (status == TB_OK) {
		// Count the packets of the jobs, if each send becomes packets of
		// its own.
		const struct tb_network_params *params = tb_network_params(network);
		if (!params->broadcast && tb_host_does_nothing(&params->host)) {
			workload->packet_bytes = params->packet_payload_bytes;
			for (uint32_t i = 0; i < workload->n_inputs; i++) {
				struct workload_input *input = &workload->inputs[i];
				const struct tb_job *job = input->job;
				for (uint32_t rank = 0; job && rank < job->n_ranks;
					rank++)
					for (uint32_t op = job->first_op[rank];
						op < job->first_op[rank + 1]; op++)
						input->n_packets += packets_of(input,
							rank, &job->ops[op],
							workload->packet_bytes);
				if (job)
					tb_job_cool(job);
			}
		}
	}
	if (status == TB_OK)
		status = join_sources(workload, error);
	// Choose what was asked for.
	enum tb_hypothesis hypothesis = workload->options->hypothesis;
	if (status == TB_OK && hypothesis >= TB_HYPOTHESIS_BOUND)
		status = tb_workload_choose(
			workload, hypothesis - TB_HYPOTHESIS_BOUND, error);
	for (uint32_t i = 0; workload->options->unbounded && i < workload->n_inputs; i++)
		if (workload->inputs[i].job)
			tb_job_drop_bounds(workload->inputs[i].job);
	return status;
}

static int choose_bound(struct tb_workload *workload, struct workload_input *input,
	size_t i, struct tb_error *error)
{
	char note[160];
	tb_job_choose(input->job, i);
	snprintf(note, sizeof note,
		"of the jobs that the capture allows this is the one called '%s'%s",
		tb_hypothesis_names[TB_HYPOTHESIS_BOUND + i],
		workload->options->hypothesis
			? ""
			: ", as it comes closest to the captured time");
	int status = add_note(input->job, note, error);
	if (status != TB_OK)
		return status;
	tb_closed_loop_free(input->closed);
	input->closed = NULL;
	return workload_make_source(workload, input, error);
}

int tb_workload_choose(struct tb_workload *workload, size_t i, struct tb_error *error)
{
	int status = TB_OK;
	for (uint32_t k = 0; status == TB_OK && k < workload->n_inputs; k++) {
		struct workload_input *input = &workload->inputs[k];
		if (input->job && input->job->bounds &&
			input->job->bounds->are_hypotheses)
			status = choose_bound(workload, input, i, error);
	}
	tb_sources_free(workload->sources);
	workload->sources = NULL;
	return status == TB_OK ? join_sources(workload, error) : status;
}

struct tb_source tb_workload_source(struct tb_workload *workload)
{
	return workload->sources ? tb_sources_source(workload->sources)
				 : workload->inputs[0].source;
}

uint32_t tb_workload_n_inputs(const struct tb_workload *workload)
{
	return workload->n_inputs;
}

struct tb_workload_input tb_workload_input_at(
	const struct tb_workload *workload, uint32_t i)
{
	const struct workload_input *input = &workload->inputs[i];
	return (struct tb_workload_input){.name = input->files_text,
		.job = input->job,
		.packets = input->packets,
		.first_job = input->first_job,
		.n_jobs = input->n_jobs,
		.is_plain = input->is_plain,
		.is_part = input->is_part,
		.is_calls = input->is_calls,
		.is_capture = input->closes || !input->job,
		.has_map = workload->options->map || input->spec.placement.map};
}

uint32_t tb_workload_n_jobs(const struct tb_workload *workload)
{
	return workload->n_jobs;
}

const struct workload_input *tb_workload_input_of(
	const struct tb_workload *workload, uint32_t job)
{
	uint32_t i = 0;
	while (job - workload->inputs[i].first_job >= workload->inputs[i].n_jobs)
		i++;
	return &workload->inputs[i];
}

struct tb_workload_job tb_workload_job_at(
	const struct tb_workload *workload, uint32_t job)
{
	const struct workload_input *input = tb_workload_input_of(workload, job);
	return (struct tb_workload_job){
		.name = input->job ? input->name
				   : tb_packets_job_name(
					     input->packets, job - input->first_job),
		.input = input->files_text,
		.start_ps = input->spec.start_ps,
		.service_level = input->spec.service_level,
		.placement = input->placement,
		.n_ranks = input->job ? input->n_ranks : 0,
		.node_of_rank = input->job ? input->node_of_rank : NULL};
}

struct tb_node tb_workload_node(
	const struct tb_workload *workload, uint32_t input, struct tb_node captured)
{
	const uint32_t *node_of = workload->inputs[input].node_of_rank;
	return node_of ? (struct tb_node){node_of[captured.id]} : captured;
}

uint64_t tb_workload_n_waiting(const struct tb_workload *workload, uint32_t i)
{
	const struct workload_input *input = &workload->inputs[i];
	return input->job ? input->job->n_ops - tb_closed_loop_n_done(input->closed) : 0;
}

tb_time_ps tb_workload_worked_until(const struct tb_workload *workload, uint32_t i)
{
	const struct workload_input *input = &workload->inputs[i];
	tb_time_ps until = input->closed ? tb_closed_loop_worked_until(input->closed) : 0;
	return until > 0 ? until + input->spec.start_ps : 0;
}

bool tb_workload_begins(const struct tb_workload *workload, uint32_t i)
{
	const struct tb_job *job = workload->inputs[i].job;
	return job && !(job->recorded && job->recorded->on_wire);
}

int tb_workload_times(const struct tb_workload *workload, uint32_t i,
	struct tb_call_times *times, uint64_t *n_unreached)
{
	const struct workload_input *input = &workload->inputs[i];
	if (!input->job || !input->job->recorded || !input->closed)
		return TB_EUSAGE;
	return tb_closed_loop_times(input->closed, times, n_unreached);
}

// ops_fraction returns the mean of the inputs' shares of operations or bytes read.
static double ops_fraction(const struct tb_workload *workload)
{
	double sum = 0;
	for (uint32_t i = 0; i < workload->n_inputs; i++) {
		const struct workload_input *input = &workload->inputs[i];
		double fraction = input->packets ? tb_packets_fraction(input->packets)
				  : input->job->n_ops
					  ? (double)tb_closed_loop_n_done(input->closed) /
						    input->job->n_ops
					  : 1;
		if (fraction < 0)
			return -1;
		sum += fraction;
	}
	return sum / workload->n_inputs;
}

// Reading and posting a frame takes about as long as bringing two packets to their ends
// (measured on frames of 1442 bytes). It counts where a capture piles up at its senders.
#define PACKETS_A_FRAME 2

// capture_work estimates the packets of a capture from the frames read so far, each of
// which leaves half of its last packet empty on average, and from the share of the file
// that they are.
static double capture_work(
	const struct tb_packets *packets, uint32_t packet_bytes, double read)
{
	const struct tb_packets_summary *seen = tb_packets_summary(packets);
	double n = (double)seen->n_packets;
	double full = (double)seen->wire_bytes / packet_bytes;
	return (fmax(full + n / 2, n) + PACKETS_A_FRAME * n) / read;
}

double tb_workload_fraction(const struct tb_workload *workload, uint64_t n_arrived)
{
	double done = (double)n_arrived, expected = 0;
	for (uint32_t i = 0; workload->packet_bytes && i < workload->n_inputs; i++) {
		const struct workload_input *input = &workload->inputs[i];
		if (!input->packets) {
			expected += (double)input->n_packets;
			continue;
		}
		double read = tb_packets_fraction(input->packets);
		if (read <= 0)
			return read;
		expected += capture_work(input->packets, workload->packet_bytes, read);
		done += PACKETS_A_FRAME *
			(double)tb_packets_summary(input->packets)->n_packets;
	}
	return expected > 0 ? fmin(done / expected, 1) : ops_fraction(workload);
}
