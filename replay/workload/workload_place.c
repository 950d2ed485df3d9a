// Places a workload on a network and makes its source.
#include "workload_impl.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

// add_note puts how the hosts of a trace were found before the notes of its job: there
// may be many, of which a summary has the first.
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

// place_parts places captures whose jobs are inputs, the first of which is `i`.
static int place_parts(struct tb_workload *workload, uint32_t i, struct tb_places *places,
	struct tb_error *error)
{
	struct workload_input *first = &workload->inputs[i];
	uint32_t *nodes = NULL;
	int status = tb_workload_place_together(first, i, places, &nodes, error);
	for (uint32_t k = 0; status == TB_OK && k < first->n_parts; k++) {
		struct workload_input *part = &first[k];
		part->node_of_rank = malloc(
			(part->n_ranks + UINT64_C(1)) * sizeof *part->node_of_rank);
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

static int place_input(struct tb_workload *workload, uint32_t i, struct tb_places *places,
	struct tb_error *error)
{
	struct workload_input *input = &workload->inputs[i];
	if (input->is_part)
		return TB_OK; // with the first
	if (input->n_parts)
		return place_parts(workload, i, places, error);
	if (input->keeps_nodes && workload->n_inputs == 1)
		return TB_OK; // what does not fit is left out and reported
	if (input->keeps_nodes)
		return reserve_nodes(workload, i, places, error);
	struct tb_placement placement = input->spec.placement;
	if (workload->options->map && !input->map) {
		placement.kind = TB_PLACE_MAP;
		placement.map = workload->options->map;
	}
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

// workload_place_all places jobs with given nodes first; the others take the rest.
static int workload_place_all(
	struct tb_workload *workload, struct tb_places *places, struct tb_error *error)
{
	int status = TB_OK;
	for (int round = 0; round < 2; round++)
		for (uint32_t i = 0; status == TB_OK && i < workload->n_inputs; i++) {
			const struct workload_input *input = &workload->inputs[i];
			bool given = input->keeps_nodes ||
				     tb_placement_names_nodes(&input->spec.placement);
			if (given == (round == 0))
				status = place_input(workload, i, places, error);
		}
	return status;
}

static int workload_make_source(const struct tb_workload *workload,
	struct workload_input *input, struct tb_error *error)
{
	if (!input->job) {
		tb_open_loop_init(&input->open, input->packets);
		input->source = tb_open_loop_source(&input->open);
		return TB_OK;
	}
	int status = tb_closed_loop_new(&input->closed, input->job, input->node_of_rank,
		0, workload->broadcasts, error);
	if (status == TB_OK && tb_closed_loop_keep_log(input->closed) != TB_OK)
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

// workload_count_packets counts the packets of the jobs, if each send becomes packets of
// its own.
static void workload_count_packets(
	struct tb_workload *workload, const struct tb_network *network)
{
	const struct tb_network_params *params = tb_network_params(network);
	if (params->broadcast || !tb_host_does_nothing(&params->host))
		return;
	workload->packet_bytes = params->packet_payload_bytes;
	for (uint32_t i = 0; i < workload->n_inputs; i++) {
		struct workload_input *input = &workload->inputs[i];
		const struct tb_job *job = input->job;
		for (uint32_t rank = 0; job && rank < job->n_ranks; rank++)
			for (uint32_t op = job->first_op[rank];
				op < job->first_op[rank + 1]; op++)
				input->n_packets += packets_of(input, rank, &job->ops[op],
					workload->packet_bytes);
	}
}

int tb_workload_place(struct tb_workload *workload, const struct tb_network *network,
	struct tb_error *error)
{
	struct tb_places *places = NULL;
	workload->n_hosts = tb_network_n_hosts(network);
	workload->broadcasts = tb_network_params(network)->broadcast;
	int status = tb_places_new(&places, network, workload->options->seed, error);
	if (status == TB_OK)
		status = workload_place_all(workload, places, error);
	tb_places_free(places);
	for (uint32_t i = 0; status == TB_OK && i < workload->n_inputs; i++) {
		struct workload_input *input = &workload->inputs[i];
		if (input->packets && input->keeps_nodes)
			tb_packets_limit_nodes(input->packets, workload->n_hosts);
		status = workload_make_source(workload, input, error);
	}
	if (status == TB_OK)
		workload_count_packets(workload, network);
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

struct tb_workload_input tb_workload_input(const struct tb_workload *workload, uint32_t i)
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

struct tb_workload_job tb_workload_job(const struct tb_workload *workload, uint32_t job)
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

// capture_work foresees the packets of a capture: those of its frames so far, of which
// each leaves half of its last packet empty on average, and as many of what is not read.
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
