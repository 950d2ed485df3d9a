#include "replay.h"

#include "circuit_params.h"
#include "credit_params.h"
#include "memory.h"
#include "nodes_impl.h"
#include "paces.h"
#include "slow_nodes.h"
#include "switchings.h"

#include <stdlib.h>
#include <string.h>

enum { EVENTS_A_BUCKET = 16 };

// If the records of packets take more than this they do not stay in the cache of one
// processor, and the loop over instants prefetches.
enum { CACHE_BYTES = 1 << 22 };

uint64_t tb_per_byte_q20(uint64_t bytes_per_s)
{
	if (bytes_per_s == 0)
		return 0;
	return (((uint64_t)TB_PS_PER_S << 20) + bytes_per_s / 2) / bytes_per_s;
}

void tb_replay_fail(struct tb_replay *replay, enum tb_status code, const char *sentence)
{
	if (replay->failure.code == TB_OK)
		tb_fail(&replay->failure, code, "%s", sentence);
}

void tb_replay_no_memory(struct tb_replay *replay, const char *what)
{
	if (replay->failure.code == TB_OK)
		tb_fail_memory(&replay->failure, "%s", what);
}

int tb_replay_init(struct tb_replay *replay, const struct tb_network *network,
	const struct tb_source *source, const struct tb_carrier *carrier,
	const struct tb_replay_options *options)
{
	replay->net = network;
	replay->n_simulated = network->n_nodes;
	replay->source = source;
	replay->carrier = carrier;
	replay->n_vls = carrier->arbitrate ? network->params.n_vcs : 1;
	const struct tb_switching_kind *kind = tb_switching_nodes(&network->params);
	replay->has_pcie = kind->has_pcie;
	replay->frame_headers = tb_switching_frame_headers(&network->params);
	replay->frame_payload = replay->frame_headers +
				network->params.packet_payload_bytes +
				tb_credit_params(&network->params)->first_overhead_bytes;
	replay->pairs.by_connection = kind->has_queue_pairs &&
				      tb_credit_params(&network->params)->queue_pairs ==
					      TB_QUEUE_PAIRS_CONNECTION;
	replay->slice_packets =
		kind->has_queue_pairs ? 1 : tb_slice_packets(&network->params);
	replay->bus_q20 = tb_per_byte_q20(
		replay->has_pcie ? tb_credit_params(&network->params)->pcie_bytes_per_s
				 : tb_circuit_bus_rate(&network->params, false));
	replay->in_q20 = tb_per_byte_q20(tb_circuit_bus_rate(&network->params, true));
	replay->has_two_buses =
		replay->has_pcie || !tb_circuit_buses_shared(&network->params);
	replay->free_message = TB_NOTHING;
	replay->fault_at = replay->opens_until = replay->pause_at = TB_TIME_NEVER;
	replay->job_bytes = options->job_bytes;
	replay->n_jobs = options->n_jobs;
	replay->n_posted_of_job =
		calloc(options->n_jobs + 1u, sizeof *replay->n_posted_of_job);
	if (!replay->n_posted_of_job)
		return TB_ENOMEM;
	int status = tb_route_choice_init(
		&replay->choice, network, options->seed, options->faults);
	bool cuts = !carrier->carry || network->params.exact_to_ps > 0;
	if (status == TB_OK && cuts)
		status = tb_paces_new(&replay->paces, network, replay->choice.dead_at);
	return status;
}

static int make_packets(struct tb_replay *replay, uint32_t n, size_t packet_bytes)
{
	replay->n_packets_most = n;
	replay->packet_bytes = packet_bytes;
	replay->packets = tb_lines_new_untouched(n, packet_bytes);
	replay->free_packets = malloc(n * sizeof *replay->free_packets);
	replay->idle_times = calloc(TB_IDLE_TIMES, sizeof *replay->idle_times);
	if (!replay->packets || !replay->free_packets || !replay->idle_times)
		return TB_ENOMEM;
	for (uint32_t i = 0; i < n; i++)
		replay->free_packets[replay->n_free_packets++] = n - 1 - i;
	return TB_OK;
}

int tb_replay_grow(struct tb_replay *replay)
{
	uint32_t n = replay->n_packets_most;
	if (n > UINT32_MAX / 4)
		return TB_ECAPACITY;
	char *packets = tb_lines_new_untouched(2 * (size_t)n, replay->packet_bytes);
	uint32_t *spare = realloc(
		replay->free_packets, 2 * (size_t)n * sizeof *replay->free_packets);
	if (spare)
		replay->free_packets = spare;
	if (!packets || !spare || tb_retries_grow(replay, 2 * n) != TB_OK) {
		free(packets);
		return TB_ENOMEM;
	}
	memcpy(packets, replay->packets, n * replay->packet_bytes);
	free(replay->packets);
	replay->packets = packets;
	replay->n_packets_most = 2 * n;
	for (uint32_t i = 0; i < n; i++)
		replay->free_packets[replay->n_free_packets++] = 2 * n - 1 - i;
	return TB_OK;
}

// make_drains: where there are slow receivers, each node has a rate of its own.
static int make_drains(struct tb_replay *replay)
{
	const struct tb_network *net = replay->net;
	if (!net->drains || !replay->has_pcie)
		return TB_OK;
	replay->drain_q20 = malloc(net->n_nodes * sizeof *replay->drain_q20);
	if (!replay->drain_q20)
		return TB_ENOMEM;
	for (uint32_t i = 0; i < net->n_nodes; i++)
		replay->drain_q20[i] = tb_per_byte_q20(
			tb_network_drain_bytes_per_s(net, (struct tb_node){i}));
	return TB_OK;
}

void tb_nic_init(struct tb_nic *nic, const struct tb_network *net)
{
	// The first payload need not turn the bus, whatever its direction.
	*nic = (struct tb_nic){.bus_free_at = -tb_circuit_bus_turn(&net->params),
		.wake_at = TB_TIME_NEVER,
		.queue = TB_NOTHING,
		.queue_end = TB_NOTHING,
		.fetched = TB_NOTHING,
		.turned = TB_NOTHING};
}

static int make_nics(struct tb_replay *replay)
{
	uint32_t n = replay->net->n_nodes;
	replay->nodes_now.ids = malloc(n * sizeof(uint32_t));
	if (replay->nics)
		return replay->nodes_now.ids ? TB_OK : TB_ENOMEM;
	n *= replay->n_vls;
	replay->nics = tb_lines_new(n, sizeof *replay->nics);
	if (!replay->nics || !replay->nodes_now.ids)
		return TB_ENOMEM;
	for (uint32_t i = 0; i < n; i++)
		tb_nic_init(&replay->nics[i], replay->net);
	return TB_OK;
}

// make_wheel makes buckets that hold some EVENTS_A_BUCKET, assuming one packet under way
// per node and serialization time; and enough of them to cover four such times, if that
// takes little memory.
static int make_wheel(struct tb_replay *replay, tb_time_ps packet, double n_events)
{
	double packet_ps = (double)packet;
	double width = EVENTS_A_BUCKET * packet_ps / (n_events * replay->n_simulated);
	unsigned shift = 4, buckets = 12;
	while (shift < 20 && (double)(UINT64_C(2) << shift) < width)
		shift++;
	while (buckets < 16 && (double)(UINT64_C(1) << (shift + buckets)) < 4 * packet_ps)
		buckets++;
	while (shift < 20 && (double)(UINT64_C(1) << (shift + buckets)) < 4 * packet_ps)
		shift++;
	return tb_wheel_init(&replay->wheel, shift, buckets);
}

int tb_replay_make(struct tb_replay *replay, uint32_t n_packets, size_t packet_bytes,
	tb_time_ps packet_ps, double n_events)
{
	int status = make_packets(replay, n_packets, packet_bytes);
	if (status == TB_OK)
		status = make_nics(replay);
	if (status == TB_OK && !replay->borrows)
		status = make_drains(replay);
	if (status == TB_OK)
		status = tb_partners_init(&replay->partners,
			tb_circuit_params(&replay->net->params)->partners,
			replay->net->n_nodes);
	if (status == TB_OK && replay->choice.dead_at && !replay->borrows)
		status = tb_retries_new(replay);
	replay->prefetches = n_packets * packet_bytes >= CACHE_BYTES;
	return status == TB_OK ? make_wheel(replay, packet_ps, n_events) : status;
}

int tb_replay_open(struct tb_replay *replay, const struct tb_observer *observer,
	struct tb_cell **cells, const struct tb_replay_options *options)
{
	int status = tb_records_init(&replay->records, replay->net, observer, cells,
		options->bin_ps, observer && !options->without_blame);
	if (status == TB_OK && options->to_ps > 0)
		tb_records_limit_to(&replay->records, options->from_ps, options->to_ps);
	if (status == TB_OK)
		tb_messages_look_outside(replay);
	return status;
}

void tb_replay_fini(struct tb_replay *replay)
{
	tb_records_fini(&replay->records);
	tb_wheel_fini(&replay->wheel);
	tb_queue_pairs_fini(&replay->pairs);
	tb_partners_fini(&replay->partners);
	free(replay->packets);
	free(replay->free_packets);
	free(replay->idle_times);
	free(replay->starting[0].ids);
	free(replay->starting[1].ids);
	free(replay->endings);
	free(replay->nodes_now.ids);
	if (!replay->borrows) {
		tb_retries_free(replay);
		tb_paces_free(replay->paces);
		tb_route_choice_fini(&replay->choice);
		free(replay->nics);
		free(replay->drain_q20);
		free(replay->messages);
		free(replay->n_posted_of_job);
	}
}
