#include "recording_sweep.h"

#include "recording_impl.h"
#include "text_lines.h"
#include "units.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void put_name(FILE *stream, const char *name)
{
	fprintf(stream, "%s%s", ftell(stream) > 0 ? "," : "", name);
}

// name_inputs joins the traces and jobs, and in `words` the options, blanks left out: the
// settings of a point are words.
static void name_inputs(
	const struct tb_recording_options *options, char **name, char **words)
{
	size_t size;
	FILE *stream = open_memstream(name, &size);
	for (size_t i = 0; stream && i < options->workload.n_traces; i++)
		put_name(stream, options->workload.traces[i]);
	for (size_t i = 0; stream && i < options->workload.n_jobs; i++)
		put_name(stream, options->workload.jobs[i]);
	*name = stream ? tb_text_written(stream, name) : NULL;
	struct tb_recording_options without = *options;
	without.network = NULL;
	*words = tb_recording_describe(&without, options->workload.hypothesis);
	if (*words && **words == ' ')
		memmove(*words, *words + 1, strlen(*words));
	for (char *at = *words; at && *at; at++)
		if (*at == ' ')
			*at = ',';
}

// digest_inputs digests all files but those of the network.
static int digest_inputs(const struct tb_recording_options *options,
	char digest[TB_DIGEST_SIZE], struct tb_error *error)
{
	const struct tb_workload_options *workload = &options->workload;
	const char *const others[] = {
		workload->map, options->route_file, options->fault_file};
	size_t n = 0, n_others = sizeof others / sizeof *others, n_jobs = 0;
	const char **paths =
		calloc(workload->n_traces + workload->n_jobs + n_others, sizeof *paths);
	char **jobs = calloc(workload->n_jobs + 1, sizeof *jobs);
	uint64_t bytes;
	bool fine = paths && jobs;
	for (size_t i = 0; fine && i < workload->n_traces; i++)
		paths[n++] = workload->traces[i];
	for (; fine && n_jobs < workload->n_jobs; n_jobs++) {
		const char *text = workload->jobs[n_jobs];
		jobs[n_jobs] = strndup(text,
			access(text, F_OK) == 0 ? strlen(text) : strcspn(text, ","));
		fine = jobs[n_jobs] != NULL;
		paths[n++] = jobs[n_jobs];
	}
	for (size_t i = 0; fine && i < n_others; i++)
		if (others[i])
			paths[n++] = others[i];
	int status = fine ? tb_digest_files(paths, n, digest, &bytes, error)
			  : tb_fail_memory(error, "the inputs");
	for (size_t i = 0; i < n_jobs; i++)
		free(jobs[i]);
	free(jobs);
	free(paths);
	return status;
}

int tb_recording_sweep(struct tb_sweep *sweep, const struct tb_recording_options *options,
	const char *const *changes, size_t n_changes, struct tb_error *error)
{
	char digest[TB_DIGEST_SIZE], *name = NULL, *words = NULL;
	int status = digest_inputs(options, digest, error);
	if (status != TB_OK)
		return status;
	name_inputs(options, &name, &words);
	digest[TB_SWEEP_HASH_DIGITS] = '\0';
	const struct tb_sweep_job job = {name, words, digest, options->network};
	status = name && words ? tb_sweep_of_job(sweep, &job, changes, n_changes, error)
			       : tb_fail_memory(error, "the points");
	free(name);
	free(words);
	return status;
}

int tb_recording_at_point(struct tb_recording_options *options,
	const struct tb_sweep_point *point, struct tb_error *error)
{
	const char *per_node = tb_sweep_value_of(point, TB_AXIS_PER_NODE);
	uint64_t n = 0;
	options->network = point->network;
	options->seed = point->seed;
	if (per_node && tb_parse_count(per_node, 1, TB_PER_NODE_MAX, &n) != TB_OK)
		return tb_fail(error, TB_EUSAGE,
			TB_AXIS_PER_NODE " = %s: expected a number from 1 to %d",
			per_node, TB_PER_NODE_MAX);
	if (per_node)
		options->workload.per_node = (uint32_t)n;
	for (size_t i = 0; i < point->n_own; i++)
		if (strcmp(point->values[i].axis, TB_AXIS_FAULT) == 0) {
			bool none = strcmp(point->values[i].text, "none") == 0;
			options->faults = (const char *const *)&point->values[i].text;
			options->n_faults = !none;
		}
	return TB_OK;
}
