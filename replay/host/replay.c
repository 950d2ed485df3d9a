#include "replay.h"

#include "circuit_params.h"
#include "credit_params.h"
#include "late_acks.h"
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

// Windows shorter than this have too little work to be worth it.
enum { SHORTEST_WINDOW_PS = 20000 };

// The number of parts when several processes simulate a network; more with more
// processes.
enum { PARTS_OF_PROCESSES = 8 };

enum { MOST_CABLE_PARTS = 16 }; // for any number of threads

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

// replay_refusal returns why a replay cannot be cut into parts; NULL: it can. Failures
// have routing tables that all nodes share, limits on partners count at both ends of a
// message (of which late_acks.h takes care where parts own cables), notifications of
// congestion pass from part to part, and the arrays that a caller may clear between calls
// exist once. Where parts own cables, those of a switch may belong to several, which
// cannot take turns at it nor take all its links for a broadcast.
static const char *replay_refusal(
	const struct tb_replay *replay, const struct tb_engine_options *options)
{
	if (options->peers &&
		(!replay->carrier->in_parts || replay->carrier->in_one_memory))
		return "only networks with credits, such as ib-hdr, can be";
	if (!replay->carrier->in_parts)
		return "its switching is simulated as a whole";
	if (replay->choice.dead_at)
		return "faults concern all of its routes";
	if (replay->carrier->owns_cables && replay->choice.turns)
		return "headers take turns at its switches";
	if (replay->carrier->owns_cables && replay->net->params.broadcast)
		return "broadcasts take all links of a level at once";
	if (!replay->carrier->owns_cables &&
		tb_circuit_params(&replay->net->params)->partners)
		return "partners are counted at both ends of messages";
	if (options->delays || options->job_bytes)
		return "sums over all of it are asked for";
	return tb_paces_control(replay->paces)
		       ? "congestion control acts on sources from afar"
		       : NULL;
}

static uint32_t n_processes(const struct tb_engine_options *options)
{
	return options->peers ? tb_peer_streams_n(options->peers) : 1;
}

// least_hop is the least time in which a flit comes from one link to the next.
static tb_time_ps least_hop(const struct tb_network *net)
{
	tb_time_ps least = TB_TIME_NEVER;
	for (uint32_t i = 0; i < net->n_links; i++) {
		uint64_t q20 = tb_per_byte_q20(net->links[i].bytes_per_s);
		tb_time_ps hop =
			net->links[i].latency_ps +
			(tb_time_ps)((tb_circuit_params(&net->params)->flit_bytes * q20 +
					     (UINT64_C(1) << 19)) >>
				     20);
		least = hop < least ? hop : least;
	}
	return least;
}

// give_cables gives cables to parts if the carrier wants that.
static int give_cables(struct tb_replay *replay, struct tb_parts *parts)
{
	if (!replay->carrier->owns_cables || parts->n == 1)
		return TB_OK;
	int status = tb_parts_own_cables(parts, replay->net);
	if (status != TB_OK)
		return status;
	parts->latency_ps = least_hop(replay->net);
	if (!replay->choice.fixed && tb_parts_split_group(parts, replay->net))
		replay->undivided = "headers choose among links of several parts";
	return TB_OK;
}

// n_wanted is into how many parts to cut, 0: as the network is cut best. Processes get as
// many each. Where parts own cables each does little in a window, as windows are short,
// so that more parts than threads take more time.
static uint32_t n_wanted(
	const struct tb_replay *replay, const struct tb_engine_options *options)
{
	uint32_t n = n_processes(options);
	if (options->n_parts)
		return options->n_parts;
	if (n > 1)
		return n * ((PARTS_OF_PROCESSES + n - 1) / n);
	if (!replay->carrier->owns_cables)
		return 0;
	if (replay->net->n_nodes < TB_PARTS_NODES || options->n_threads <= 1)
		return 1;
	return options->n_threads < MOST_CABLE_PARTS ? options->n_threads
						     : MOST_CABLE_PARTS;
}

// replay_cut_parts cuts the network into parts, if they can be alone for long enough. A
// message that the source posts in a window must not enter the network in it, unless the
// source can be asked before the window begins.
static int replay_cut_parts(
	struct tb_replay *replay, const struct tb_engine_options *options)
{
	uint32_t wanted = n_wanted(replay, options);
	bool asked = options->n_parts || options->peers;
	bool alone = wanted == 0 && options->n_threads <= 1; // quicker uncut
	replay->undivided = replay_refusal(replay, options);
	if (alone || wanted == 1 || replay->undivided)
		return TB_OK;
	struct tb_parts *parts = NULL;
	int status = tb_parts_new(&parts, replay->net, wanted);
	if (status == TB_OK)
		status = give_cables(replay, parts);
	if (status != TB_OK) {
		tb_parts_free(parts);
		return status;
	}
	tb_time_ps window_ps = parts->latency_ps;
	tb_time_ps overhead_ps = replay->net->params.send_overhead_ps;
	if (!tb_source_is_open_loop(replay->source) && overhead_ps < window_ps)
		window_ps = overhead_ps;
	if (parts->n < n_processes(options))
		replay->undivided = "it has fewer switches with nodes";
	else if (window_ps < (asked ? 1 : SHORTEST_WINDOW_PS))
		replay->undivided = "its links or messages take no time";
	if (parts->n == 1 || replay->undivided) {
		tb_parts_free(parts);
		return TB_OK;
	}
	replay->parts = parts;
	if (options->peers) {
		// Give each process a stretch of the parts.
		const struct tb_peer_streams *peers = options->peers;
		uint64_t n = parts->n, rank = tb_peer_streams_rank(peers);
		parts->own_first = (uint32_t)(n * rank / tb_peer_streams_n(peers));
		parts->own_end = (uint32_t)(n * (rank + 1) / tb_peer_streams_n(peers));
	}
	replay->window_ps = window_ps;
	replay->by_part = calloc(parts->n, sizeof(struct tb_replay *));
	return replay->by_part ? TB_OK : TB_ENOMEM;
}

int tb_replay_init(struct tb_replay *replay, const struct tb_network *network,
	const struct tb_source *source, const struct tb_carrier *carrier,
	const struct tb_engine_options *options)
{
	replay->whole = replay;
	replay->net = network;
	replay->source = source;
	replay->carrier = carrier;
	const struct tb_switching_kind *kind = tb_switching_nodes(&network->params);
	replay->has_pcie = kind->has_pcie;
	replay->keeps_frames = kind->keeps_frames;
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
	return status == TB_OK ? replay_cut_parts(replay, options) : status;
}

// A part shares with the whole everything that it does not own.
void tb_replay_join(struct tb_replay *replay, struct tb_replay *whole, uint32_t part)
{
	*replay = *whole;
	replay->whole = whole;
	replay->by_part = NULL;
	replay->part = part;
	replay->now = -1;
	replay->source_at = replay->fault_at = replay->outside_at = TB_TIME_NEVER;
	replay->pause_at = TB_TIME_NEVER;
	replay->handover_at = TB_TIME_NEVER;
	replay->records = (struct tb_records){0};
	replay->wheel = (struct tb_wheel){0};
	replay->packets = NULL;
	replay->free_packets = NULL;
	replay->idle_times = NULL;
	replay->n_free_packets = replay->n_packets_most = replay->n_forgotten = 0;
	replay->starting[0] = replay->starting[1] = (struct tb_ring){0};
	replay->nodes_now = (struct tb_list){0};
	replay->partners = (struct tb_partners){0};
	replay->pairs.buckets = NULL;
	replay->pairs.n_buckets = replay->pairs.n_listed = 0;
	replay->endings = NULL;
	replay->n_endings = 0;
	replay->endings_room = 0;
	replay->stats = (struct tb_engine_stats){0};
	whole->by_part[part] = replay;
}

int tb_replay_join_elsewhere(
	struct tb_replay **replay, struct tb_replay *whole, uint32_t part)
{
	struct tb_replay *made = calloc(1, sizeof *made);
	if (!made)
		return TB_ENOMEM;
	tb_replay_join(made, whole, part);
	made->elsewhere = true;
	*replay = made;
	return tb_replay_open(made, NULL, NULL, NULL);
}

void tb_replay_free_elsewhere(struct tb_replay *replay)
{
	tb_replay_fini(replay);
	free(replay);
}

static bool has_all(const struct tb_replay *replay)
{
	const struct tb_parts *parts = replay->parts;
	return !parts || parts->own_end - parts->own_first == parts->n;
}

void *tb_replay_lines_new_untouched(const struct tb_replay *replay, size_t n, size_t size)
{
	return has_all(replay) ? tb_lines_new_untouched(n, size)
			       : tb_lines_new_sparse(n, size);
}

void *tb_replay_lines_new(const struct tb_replay *replay, size_t n, size_t size)
{
	return has_all(replay) ? tb_lines_new(n, size) : tb_lines_new_sparse(n, size);
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

static int make_nics(struct tb_replay *replay)
{
	uint32_t n = replay->net->n_nodes;
	replay->nodes_now.ids = malloc(n * sizeof(uint32_t));
	if (!tb_replay_is_part(replay))
		replay->nics = tb_replay_lines_new(replay, n, sizeof *replay->nics);
	if (!replay->nics || !replay->nodes_now.ids)
		return TB_ENOMEM;
	if (tb_replay_is_part(replay))
		return TB_OK;
	// The first payload need not turn the bus, whatever its direction.
	for (uint32_t i = 0; i < n; i++)
		if (tb_replay_has_node(replay, i))
			replay->nics[i] = (struct tb_nic){
				.bus_free_at = -tb_circuit_bus_turn(&replay->net->params),
				.wake_at = TB_TIME_NEVER,
				.queue = TB_NOTHING,
				.queue_end = TB_NOTHING,
				.fetched = TB_NOTHING,
				.turned = TB_NOTHING};
	return TB_OK;
}

// make_wheel makes buckets that hold some EVENTS_A_BUCKET, assuming one packet under way
// per node and serialization time; and enough of them to cover four such times, if that
// takes little memory.
static int make_wheel(struct tb_replay *replay, tb_time_ps packet, double n_events)
{
	double packet_ps = (double)packet;
	double n_nodes = replay->net->n_nodes;
	if (tb_replay_is_part(replay))
		n_nodes /= replay->parts->n;
	double width = EVENTS_A_BUCKET * packet_ps / (n_events * n_nodes);
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
	if (status == TB_OK && !tb_replay_is_part(replay))
		status = make_drains(replay);
	if (status == TB_OK)
		status = tb_partners_init(&replay->partners,
			tb_circuit_params(&replay->net->params)->partners,
			replay->net->n_nodes);
	if (status == TB_OK && tb_replay_is_part(replay))
		status = tb_late_acks_new(replay);
	if (status == TB_OK && replay->choice.dead_at && !tb_replay_is_part(replay))
		status = tb_retries_new(replay);
	replay->prefetches = n_packets * packet_bytes >= CACHE_BYTES;
	return status == TB_OK ? make_wheel(replay, packet_ps, n_events) : status;
}

int tb_replay_open(struct tb_replay *replay, const struct tb_observer *observer,
	struct tb_cell **cells, const struct tb_engine_options *options)
{
	if (tb_replay_is_part(replay))
		return tb_records_join(&replay->records, &replay->whole->records);
	int status = tb_records_init(&replay->records, replay->net, observer, cells,
		options->bin_ps, observer && !options->without_blame);
	if (status == TB_OK && options->to_ps > 0)
		tb_records_limit_to(&replay->records, options->from_ps, options->to_ps);
	if (status == TB_OK && replay->parts)
		status = tb_records_cut(&replay->records, replay->net, replay->parts);
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
	tb_late_acks_free(replay->late);
	free(replay->packets);
	free(replay->free_packets);
	free(replay->idle_times);
	free(replay->starting[0].ids);
	free(replay->starting[1].ids);
	free(replay->endings);
	free(replay->nodes_now.ids);
	if (replay->whole == replay) {
		// Free what all parts share.
		tb_retries_free(replay);
		tb_paces_free(replay->paces);
		tb_route_choice_fini(&replay->choice);
		tb_parts_free(replay->parts);
		free(replay->by_part);
		free(replay->nics);
		free(replay->drain_q20);
		free(replay->messages);
		free(replay->n_posted_of_job);
	}
}
