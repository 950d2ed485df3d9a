// Opens captures: with a map of the user's, or as a survey finds them.
#include "workload_impl.h"

#include "array.h"
#include "trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int tb_workload_survey(const struct tb_workload *workload, struct workload_input *input,
	struct tb_error *error)
{
	const struct tb_workload_options *options = workload->options;
	struct tb_packets_options packets = options->packets;
	packets.n_nodes_max = 0;
	packets.map_file = NULL;
	packets.map = NULL;
	packets.lenient = options->reading && options->reading->lenient;
	packets.stop = options->stop;
	char group[128] = "group";
	if (workload->n_inputs > 1)
		snprintf(group, sizeof group, "%.100s, group", input->name);
	const struct tb_trace_request request = {
		.paths = input->files, .n = input->n_files, .packets = &packets};
	int status = tb_trace_pool_survey(options->pool, &input->map, &request,
		options->split ? group : NULL, options->split_names, error);
	if (status != TB_OK && error && !error->file[0])
		snprintf(error->file, sizeof error->file, "%s", input->files[0]);
	return status;
}

// look_at_captures finds the endpoints of captures, where they are needed before the
// replay.
static int look_at_captures(struct tb_workload *workload, struct workload_input *input,
	struct tb_error *error)
{
	const struct tb_workload_options *options = workload->options;
	const char *map = options->map ? options->map : input->spec.placement.map;
	bool alone = workload->n_inputs == 1 && !input->spec.placed;
	input->keeps_nodes = alone || map;
	if (map) {
		// Read the map of captures. One that names hosts has them placed as those
		// of a trace are.
		int status = tb_map_file_read(&input->map, map, error);
		const char *const *hosts =
			status == TB_OK ? tb_map_file_hosts(input->map) : NULL;
		if (!hosts)
			return status;
		input->keeps_nodes = false;
		input->n_ranks = tb_map_file_n_nodes(input->map);
		input->spec.placement.kind = TB_PLACE_TRACE;
		input->spec.placement.trace_hosts = hosts;
		input->spec.placement.must_match = true;
		return TB_OK;
	}
	if (alone && !options->split)
		return TB_OK;
	int status = tb_workload_survey(workload, input, error);
	if (status == TB_OK && !input->keeps_nodes)
		input->n_ranks = tb_map_file_n_nodes(input->map);
	return status;
}

struct tb_packets_options tb_workload_packets(
	const struct tb_workload *workload, const struct workload_input *input)
{
	const struct tb_reading *reading = workload->options->reading;
	struct tb_packets_options packets = workload->options->packets;
	packets.lenient = reading && reading->lenient;
	packets.map_file = NULL;
	packets.map = input->map;
	packets.job_name = input->name;
	if (!input->keeps_nodes)
		packets.n_nodes_max = 0;
	return packets;
}

int tb_workload_open_captures(struct tb_workload *workload, struct workload_input *input,
	struct tb_error *error)
{
	struct tb_error said = {0};
	int status = look_at_captures(workload, input, &said);
	struct tb_packets_options packets = tb_workload_packets(workload, input);
	packets.opened = &input->pipe;
	if (status == TB_OK)
		status = tb_packets_open(
			&input->packets, input->files, input->n_files, &packets, &said);
	if (status == TB_OK)
		status = tb_packets_look_ahead(input->packets, &said);
	if (status != TB_OK && error)
		*error = said;
	return status;
}

// Makes jobs of captures (closed loop): one, or where a map or a survey finds several, an
// input for each.

// check_times refuses options that are for captured times, where none are kept.
static int check_times(const struct tb_workload *workload, struct tb_error *error)
{
	const struct tb_packets_options *packets = &workload->options->packets;
	if (packets->time_scale > 0 || packets->keep_acks ||
		packets->keep_retransmissions)
		return tb_fail(error, TB_EUSAGE,
			"--time-scale and --keep-... are for captured times, which a "
			"closed loop does not keep");
	return TB_OK;
}

int tb_workload_mark_loops(struct tb_workload *workload, struct tb_error *error)
{
	const struct tb_workload_options *options = workload->options;
	uint32_t n_closed = 0, n_captures = 0;
	for (uint32_t i = 0; i < workload->n_inputs; i++) {
		struct workload_input *input = &workload->inputs[i];
		if (input->job && input->spec.closed_loop)
			return tb_fail(error, TB_EUSAGE,
				"job '%s': closed-loop is for packet captures, and it is "
				"a job",
				input->spec.file);
		input->closes =
			!input->job && (options->closed_loop || options->may_close ||
					       input->spec.closed_loop);
		n_captures += !input->job;
		n_closed += input->closes;
	}
	if (options->closed_loop && n_closed == 0)
		return tb_fail(error, TB_EUSAGE,
			"--closed-loop is for packet captures, and none is among the "
			"inputs");
	return n_closed && n_closed == n_captures ? check_times(workload, error) : TB_OK;
}

// workload_find_jobs reads the map of captures, or looks for their jobs.
static int workload_find_jobs(const struct tb_workload *workload,
	struct workload_input *input, struct tb_error *error)
{
	const struct tb_workload_options *options = workload->options;
	const char *map = options->map ? options->map : input->spec.placement.map;
	if (map)
		return tb_map_file_read(&input->map, map, error);
	return options->split ? tb_workload_survey(workload, input, error) : TB_OK;
}

// workload_take_hosts stores the host of each node, where the map has names.
static int workload_take_hosts(struct workload_input *input)
{
	const char *const *hosts = tb_map_file_hosts(input->map);
	if (!hosts)
		return TB_OK;
	input->given_hosts = calloc(input->n_together, sizeof *input->given_hosts);
	for (uint32_t i = 0; input->given_hosts && i < input->n_together; i++)
		input->given_hosts[i] = hosts[input->given_nodes[i]];
	free(input->given_nodes);
	input->given_nodes = NULL;
	return input->given_hosts ? TB_OK : TB_ENOMEM;
}

// number_nodes numbers the nodes of the map without gaps, and keeps their old numbers
// where these are places.
static int number_nodes(const struct tb_workload *workload, struct workload_input *input,
	struct tb_map_file **dense, struct tb_error *error)
{
	const struct tb_workload_options *options = workload->options;
	bool is_own = options->map || input->spec.placement.map;
	bool alone = workload->n_inputs == 1 && !input->spec.placed && !options->per_node;
	int status = tb_map_file_dense(dense, &input->given_nodes, input->map, error);
	if (status != TB_OK)
		return status;
	input->n_together = tb_map_file_n_nodes(*dense);
	if (!is_own && !alone) {
		free(input->given_nodes);
		input->given_nodes = NULL;
		return TB_OK;
	}
	return workload_take_hosts(input) == TB_OK ? TB_OK
						   : tb_fail_memory(error, "the map");
}

// check_place places captures on trial, to find faults of a map before jobs are inferred.
static int check_place(const struct tb_workload *workload,
	const struct workload_input *input, struct tb_error *error)
{
	struct tb_places *places = NULL;
	uint32_t *nodes = NULL;
	if (!workload->options->network || !(input->given_nodes || input->given_hosts))
		return TB_OK;
	int status = tb_places_new(
		&places, workload->options->network, workload->options->seed, error);
	if (status == TB_OK)
		status = tb_workload_place_together(input, 0, places, &nodes, error);
	tb_places_free(places);
	free(nodes);
	return status;
}

// is_of returns whether a node belongs to job `number`, which is called `name`; those to
// which the map gives none belong to the job that is called after the captures.
static bool is_of(const struct tb_map_file *map, uint32_t node, uint32_t number,
	const char *name, const struct workload_input *input)
{
	uint32_t job = tb_map_file_job(map, (struct tb_node){node});
	return job == number || (job == TB_ID_NONE && strcmp(name, input->name) == 0);
}

// workload_make_part fills in the input of a job of captures. Its job is freed with it.
static int workload_make_part(struct workload_input *part,
	const struct workload_input *of, const struct tb_map_file *map,
	struct tb_job *job, uint32_t number)
{
	*part = (struct workload_input){.spec = of->spec,
		.files = of->files,
		.n_files = of->n_files,
		.is_plain = of->is_plain,
		.closes = true,
		.is_part = true,
		.job = job};
	part->spec.text = NULL; // the first one's
	part->name = strdup(job->name);
	part->files_text = strdup(of->files_text);
	part->placement = strdup(of->placement);
	part->member = calloc(job->n_ranks + UINT64_C(1), sizeof *part->member);
	if (!part->name || !part->files_text || !part->placement || !part->member)
		return TB_ENOMEM;
	uint32_t rank = 0;
	for (uint32_t i = 0; i < of->n_together && rank < job->n_ranks; i++)
		if (is_of(map, i, number, job->name, of))
			part->member[rank++] = i;
	return TB_OK;
}

// insert_parts puts the parts in place of input `i`. The files of a --job are in the
// input itself, which moves.
static int insert_parts(struct tb_workload *workload, uint32_t i,
	struct workload_input *parts, uint32_t n)
{
	if (TB_ARRAY_RESERVE(&workload->inputs, &workload->inputs_room,
		    workload->n_inputs + (size_t)n) != TB_OK)
		return TB_ENOMEM;
	struct workload_input *first = &workload->inputs[i];
	memmove(first + n, first + 1, (workload->n_inputs - i - 1) * sizeof *first);
	// The input of the captures becomes that of its first job.
	struct workload_input *part = &parts[0];
	first->job = part->job;
	first->member = part->member;
	free(first->name);
	first->name = part->name;
	free(part->files_text);
	free(part->placement);
	first->n_parts = n;
	memcpy(first + 1, parts + 1, (n - 1) * sizeof *first);
	workload->n_inputs += n - 1;
	for (uint32_t k = 0; k < workload->n_inputs; k++)
		if (!workload->inputs[k].is_plain)
			workload->inputs[k].files =
				(const char *const *)&workload->inputs[k].spec.file;
	return TB_OK;
}

static int workload_infer_job(struct tb_workload *workload, uint32_t i,
	const struct tb_map_file *map, struct tb_error *error)
{
	const struct tb_workload_options *options = workload->options;
	struct workload_input *input = &workload->inputs[i];
	struct tb_packets_options packets = options->packets;
	packets.map = map;
	packets.map_file = NULL;
	packets.job_name = input->name;
	if (map)
		packets.n_nodes_max = 0;
	struct tb_trace trace;
	const struct tb_trace_request request = {.paths = input->files,
		.n = input->n_files,
		.stdin_kind = TB_TRACE_PACKETS,
		.packets = &packets,
		.closed_loop = true,
		.bounded =
			!options->unbounded || options->hypothesis >= TB_HYPOTHESIS_BOUND,
		.apart = map != NULL,
		.reading = options->reading,
		.pipe = &input->pipe,
		.stop = options->stop};
	// A map is the user's, or what a survey finds with these options.
	const char *own = options->map ? options->map : input->spec.placement.map;
	char *source = NULL;
	if (map && asprintf(&source, "%s %d %s", own ? own : "", !own && options->split,
			   !own && options->split_names ? options->split_names : "") < 0)
		return tb_fail_memory(error, "the map");
	int status = tb_trace_pool_read(options->pool, &trace, &request, source, error);
	free(source);
	if (status != TB_OK)
		return status;
	if (!map) {
		input->job = trace.job;
		return TB_OK;
	}
	// Make inputs of the jobs of input `i`, which it takes.
	struct workload_input *parts = calloc(trace.n_jobs + UINT64_C(1), sizeof *parts);
	uint32_t n = 0;
	status = parts ? TB_OK : TB_ENOMEM;
	for (uint32_t k = 0; k < trace.n_jobs; k++) {
		struct tb_job *job = trace.jobs[k];
		if (job && status == TB_OK)
			status = workload_make_part(
				&parts[n++], &workload->inputs[i], map, job, k);
		else
			tb_job_free(job);
	}
	if (status == TB_OK)
		status = insert_parts(workload, i, parts, n);
	for (uint32_t k = 0; k < n && status != TB_OK; k++)
		tb_workload_free_input(&parts[k]);
	free(parts);
	free(trace.jobs);
	return status == TB_OK ? TB_OK : tb_fail_memory(error, "the jobs");
}

// workload_prepare_input determines what is known of an input's captures before they are
// read.
static int workload_prepare_input(const struct tb_workload *workload,
	struct workload_input *input, struct tb_map_file **dense, struct tb_error *error)
{
	int status = workload_find_jobs(workload, input, error);
	if (status == TB_OK && input->map)
		status = number_nodes(workload, input, dense, error);
	return status == TB_OK ? check_place(workload, input, error) : status;
}

int tb_workload_close_loops(struct tb_workload *workload, struct tb_error *error)
{
	uint32_t n = workload->n_inputs;
	struct tb_map_file **dense = calloc(n, sizeof(struct tb_map_file *));
	int status = dense ? TB_OK : tb_fail_memory(error, "the maps");
	for (uint32_t i = 0; status == TB_OK && i < n; i++)
		if (workload->inputs[i].closes)
			status = workload_prepare_input(
				workload, &workload->inputs[i], &dense[i], error);
	// From the last on: those before it stay where they are.
	for (uint32_t i = n; status == TB_OK && i-- > 0;)
		if (workload->inputs[i].closes)
			status = workload_infer_job(workload, i, dense[i], error);
	for (uint32_t i = 0; dense && i < n; i++)
		tb_map_file_free(dense[i]);
	free(dense);
	return status;
}
