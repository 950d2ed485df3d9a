// Opens what a recording needs: network, traces, faults, routes.
#include "recording_also.h"
#include "recording_impl.h"

#include "network_open.h"
#include "route_file.h"
#include "survey.h"
#include "switchings.h"

#include <stdlib.h>
#include <string.h>

static int recording_open_network(
	struct tb_recording *recording, uint32_t n_nodes, struct tb_error *error)
{
	const struct tb_network_description description = {
		.name = recording->options->network,
		.n_nodes = n_nodes,
		.stop = recording->options->stop};
	return tb_network_open(&recording->network, &description, error);
}

// has_its_levels returns whether the user set the number of levels, or a whole shape.
static bool has_its_levels(const struct tb_recording *recording)
{
	return strstr(recording->options->network, ",levels=") != NULL ||
	       tb_network_params(recording->network)->shape[0];
}

// raise_tree adds levels until all nodes of the captures fit, unless the user set the
// number of levels. Jobs that do not fit are refused instead: their users know how many
// ranks they have, and results for another network than the chosen one would mislead
// them.
static int raise_tree(struct tb_recording *recording, struct tb_error *error)
{
	uint32_t n_nodes = tb_workload_n_nodes(recording->workload);
	if (n_nodes <= tb_network_n_hosts(recording->network) ||
		has_its_levels(recording))
		return TB_OK;
	tb_network_free(recording->network);
	recording->network = NULL;
	recording->raised_for = n_nodes;
	return recording_open_network(recording, n_nodes, error);
}

static bool has_captures(const struct tb_workload *workload)
{
	for (uint32_t i = 0; i < tb_workload_n_inputs(workload); i++)
		if (tb_workload_input_at(workload, i).is_capture)
			return true;
	return false;
}

static int open_workload(struct tb_recording *recording, struct tb_error *error)
{
	const struct tb_recording_options *options = recording->options;
	struct tb_workload_options *wanted = &recording->wanted;
	*wanted = options->workload;
	wanted->seed = options->seed;
	tb_workload_take_network(wanted, tb_network_params(recording->network));
	wanted->stop = options->stop;
	wanted->network = recording->network;
	if (has_its_levels(recording))
		wanted->packets.n_nodes_max = tb_network_n_hosts(recording->network);
	int status = tb_workload_new(&recording->workload, wanted, error);
	if (status == TB_OK && options->wants_captures &&
		!has_captures(recording->workload))
		status = tb_fail(error, TB_EUSAGE,
			"%s is a job: --time-scale, --squeeze-idle, --from, --to, "
			"--sampled, "
			"--dedup and "
			"--keep-... are for packet captures",
			tb_workload_input_at(recording->workload, 0).name);
	if (status == TB_OK)
		status = raise_tree(recording, error);
	if (status == TB_OK)
		status =
			tb_workload_place(recording->workload, recording->network, error);
	if (status == TB_OK)
		recording->source = tb_workload_source(recording->workload);
	return status;
}

static int recording_no_memory(struct tb_error *error)
{
	return tb_fail_memory(error, "the recording");
}

// list_inputs joins the names of all inputs and lists their files, for the digest.
static int list_inputs(struct tb_recording *recording, struct tb_error *error)
{
	const struct tb_workload_options *wanted = &recording->wanted;
	size_t size = 0;
	FILE *stream = open_memstream(&recording->input_name, &size);
	if (!stream)
		return recording_no_memory(error);
	for (uint32_t i = 0; i < tb_workload_n_inputs(recording->workload); i++) {
		struct tb_workload_input input =
			tb_workload_input_at(recording->workload, i);
		if (!input.is_part)
			fprintf(stream, "%s%s", i ? ", " : "", input.name);
	}
	if (fclose(stream) != 0)
		return recording_no_memory(error);
	recording->files =
		calloc(wanted->n_traces + wanted->n_jobs + 1, sizeof *recording->files);
	if (!recording->files)
		return recording_no_memory(error);
	for (size_t i = 0; i < wanted->n_traces; i++)
		recording->files[recording->n_files++] = wanted->traces[i];
	for (uint32_t i = 0; i < tb_workload_n_inputs(recording->workload); i++) {
		struct tb_workload_input input =
			tb_workload_input_at(recording->workload, i);
		if (!input.is_plain && !input.is_part)
			recording->files[recording->n_files++] = input.name;
	}
	return TB_OK;
}

static int take_routes(struct tb_recording *recording, struct tb_error *error)
{
	const char *path = recording->options->route_file;
	uint64_t bytes = 0;
	if (!path)
		return TB_OK;
	int status = tb_route_file_open(recording->network, path, error);
	return status == TB_OK ? tb_digest_files(&path, 1, recording->routes_digest,
					 &bytes, error)
			       : status;
}

// recording_check_broadcast refuses early what the engine would refuse at the first
// broadcast.
static int recording_check_broadcast(
	struct tb_recording *recording, struct tb_error *error)
{
	if (!tb_network_params(recording->network)->broadcast ||
		(!recording->faults && !recording->options->route_file))
		return TB_OK;
	return tb_fail(error, TB_EUSAGE,
		"broadcast = yes: expected no faults and no route file, with which "
		"broadcasts cannot be replayed");
}

static int recording_take_faults(struct tb_recording *recording, struct tb_error *error)
{
	const struct tb_recording_options *options = recording->options;
	if (options->n_faults == 0 && !options->fault_file)
		return TB_OK;
	int status = tb_faults_new(&recording->faults, recording->network, error);
	for (size_t i = 0; i < options->n_faults && status == TB_OK; i++)
		status = tb_faults_add(recording->faults, options->faults[i], error);
	if (status == TB_OK && options->fault_file)
		status = tb_faults_read(recording->faults, options->fault_file, error);
	return status == TB_OK ? tb_faults_check(recording->faults, error) : status;
}

static int take_slow_nodes(struct tb_recording *recording, struct tb_error *error)
{
	const struct tb_recording_options *options = recording->options;
	int status = TB_OK;
	for (size_t i = 0; i < options->n_slow && status == TB_OK; i++)
		status = tb_slow_nodes_add(recording->network, options->slow[i], error);
	return status;
}

// take_service_levels lists those of the jobs.
static int take_service_levels(struct tb_recording *recording, struct tb_error *error)
{
	const struct tb_network_params *params = tb_network_params(recording->network);
	uint32_t n = tb_workload_n_jobs(recording->workload);
	recording->service_levels = calloc(n + UINT64_C(1), 1);
	if (!recording->service_levels)
		return recording_no_memory(error);
	for (uint32_t i = 0; i < n; i++) {
		struct tb_workload_job job = tb_workload_job_at(recording->workload, i);
		recording->service_levels[i] = job.service_level;
		if (job.service_level && !tb_switching_of(params)->has_service_levels)
			return tb_fail(error, TB_EUSAGE,
				"job '%s': sl=%u has no effect: there are service levels "
				"only where switching = credits, not %s",
				job.name, job.service_level, params->switching);
	}
	return TB_OK;
}

// check_alone refuses captures that cannot be read again for each job.
static int check_alone(const struct tb_recording *recording, struct tb_error *error)
{
	if (!recording->options->alone || !tb_recording_has_packets(recording->workload))
		return TB_OK;
	for (size_t i = 0; i < recording->n_files; i++)
		if (!tb_survey_can_reread(recording->files[i]))
			return tb_fail_in(error, TB_EUSAGE, recording->files[i],
				"can be read only once, but --alone reads captures again "
				"for each job: give a file");
	return TB_OK;
}

int tb_recording_open(struct tb_recording *recording, struct tb_error *error)
{
	int status =
		recording_open_network(recording, recording->options->n_nodes, error);
	if (status == TB_OK)
		status = open_workload(recording, error);
	if (status == TB_OK)
		status = list_inputs(recording, error);
	if (status == TB_OK)
		status = check_alone(recording, error);
	if (status == TB_OK)
		status = tb_digest_files(recording->files, recording->n_files,
			recording->digest, &recording->input_bytes, error);
	if (status == TB_OK)
		status = take_routes(recording, error);
	if (status == TB_OK)
		status = recording_take_faults(recording, error);
	if (status == TB_OK)
		status = take_slow_nodes(recording, error);
	if (status == TB_OK)
		status = take_service_levels(recording, error);
	if (status == TB_OK)
		status = recording_check_broadcast(recording, error);
	return status == TB_OK ? tb_recording_also_open(recording, error) : status;
}
