// Opens captures: with a map of the user's, or as a survey finds them.
#include "workload_impl.h"

#include "survey.h"

#include <stdio.h>

// read_map reads the map of captures. One that names hosts has them placed as those of a
// trace are.
static int read_map(
	struct workload_input *input, const char *path, struct tb_error *error)
{
	int status = tb_map_file_read(&input->map, path, error);
	const char *const *hosts = status == TB_OK ? tb_map_file_hosts(input->map) : NULL;
	if (!hosts)
		return status;
	input->keeps_nodes = false;
	input->n_ranks = tb_map_file_n_nodes(input->map);
	input->spec.placement.kind = TB_PLACE_TRACE;
	input->spec.placement.trace_hosts = hosts;
	input->spec.placement.must_match = true;
	return TB_OK;
}

int tb_workload_survey(const struct tb_workload *workload, struct workload_input *input,
	struct tb_error *error)
{
	const struct tb_workload_options *options = workload->options;
	struct tb_packets_options packets = options->packets;
	packets.n_nodes_max = 0;
	packets.map_file = NULL;
	packets.map = NULL;
	packets.stop = options->stop;
	char group[128] = "group";
	if (workload->n_inputs > 1)
		snprintf(group, sizeof group, "%.100s, group", input->name);
	int status = tb_survey(&input->map, input->files, input->n_files, &packets,
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
	if (map)
		return read_map(input, map, error);
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
	struct tb_packets_options packets = workload->options->packets;
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
