// Names of nodes from the traces of jobs: the endpoints of a capture of which a job was
// inferred, or the hosts on which ranks ran, where these are nodes here.
#include "recording_impl.h"

#include <stdlib.h>
#include <string.h>

// Where the ranks of a name are.
struct named_seat {
	const char *name;
	uint32_t node;
};

static int seat_by_name(const void *one, const void *other)
{
	const struct named_seat *a = one, *b = other;
	int order = strcmp(a->name, b->name);
	return order ? order : (a->node > b->node) - (a->node < b->node);
}

// can_name_node returns whether a node can go by the name of a trace's host: that of the
// fabric comes first, as the name of an endpoint comes before both.
static bool can_name_node(
	const struct tb_recording *recording, const struct tb_job *job, uint32_t node)
{
	struct tb_identity own =
		tb_network_node_identity(recording->network, (struct tb_node){node});
	return job->endpoints || !own.name[0];
}

// take_seats names the nodes that hold all ranks of a name; NULL stands for a node with
// several.
static void take_seats(
	struct tb_recording *recording, const struct named_seat *seats, uint32_t n)
{
	const char **names = recording->node_names;
	for (uint32_t i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n && strcmp(seats[end].name, seats[i].name) == 0;)
			end++;
		uint32_t node = seats[i].node;
		if (seats[end - 1].node != node)
			continue;
		bool is_new = names[node] && !names[node][0];
		bool is_same = names[node] && strcmp(names[node], seats[i].name) == 0;
		names[node] = is_new || is_same ? seats[i].name : NULL;
	}
}

static int name_seats(
	struct tb_recording *recording, const struct tb_job *job, const uint32_t *node_of)
{
	char *const *names = job->endpoints ? job->endpoints : job->hosts;
	struct named_seat *seats = malloc((job->n_ranks + 1u) * sizeof *seats);
	uint32_t n = 0;
	if (!seats)
		return TB_ENOMEM;
	for (uint32_t i = 0; i < job->n_ranks; i++)
		if (names[i] && names[i][0] && can_name_node(recording, job, node_of[i]))
			seats[n++] = (struct named_seat){names[i], node_of[i]};
	qsort(seats, n, sizeof *seats, seat_by_name);
	take_seats(recording, seats, n);
	free(seats);
	return TB_OK;
}

int tb_recording_name_nodes(struct tb_recording *recording, struct tb_error *error)
{
	uint32_t n_nodes = tb_network_n_hosts(recording->network);
	int status = TB_OK;
	recording->node_names = calloc(n_nodes + 1u, sizeof *recording->node_names);
	for (uint32_t i = 0; recording->node_names && i < n_nodes; i++)
		recording->node_names[i] = "";
	for (uint32_t i = 0; i < tb_workload_n_inputs(recording->workload); i++) {
		struct tb_workload_input input =
			tb_workload_input_at(recording->workload, i);
		if (recording->node_names && status == TB_OK && input.job &&
			(input.job->endpoints || input.job->hosts))
			status = name_seats(recording, input.job,
				tb_workload_job_at(recording->workload, input.first_job)
					.node_of_rank);
	}
	for (uint32_t i = 0; recording->node_names && i < n_nodes; i++)
		if (!recording->node_names[i])
			recording->node_names[i] = "";
	return recording->node_names && status == TB_OK ? TB_OK
							: tb_fail_memory(error, "names");
}
