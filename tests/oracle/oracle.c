// Time: instants, their rounds and phases; the life of the oracle.
#include "oracle.h"

#include "oracle_impl.h"

#include <stdlib.h>

void oracle_fail(struct oracle *oracle, enum tb_status code, const char *sentence)
{
	if (oracle->failure.code == TB_OK)
		tb_fail(&oracle->failure, code, "%s", sentence);
}

// before: of one instant, messages start (rule 20) before packets ask for the bus; beyond
// that no order of arrivals matters.
static bool before(const struct happening *a, const struct happening *b)
{
	if (a->at != b->at)
		return a->at < b->at;
	return a->what != b->what ? a->what < b->what : a->number < b->number;
}

void oracle_foresee(struct oracle *oracle, struct happening happening)
{
	struct heap *heap = &oracle->heap;
	if (heap->n == heap->room) {
		size_t room = heap->room ? heap->room * 2 : 1024;
		void *moved = realloc(heap->items, room * sizeof *heap->items);
		if (!moved) {
			oracle_fail(oracle, TB_ENOMEM, "no memory for the events");
			return;
		}
		heap->items = moved;
		heap->room = room;
	}
	happening.number = oracle->stats.n_events++;
	size_t i = heap->n++;
	for (; i > 0 && before(&happening, &heap->items[(i - 1) / 2]); i = (i - 1) / 2)
		heap->items[i] = heap->items[(i - 1) / 2];
	heap->items[i] = happening;
}

static struct happening take_first(struct heap *heap)
{
	struct happening first = heap->items[0];
	struct happening last = heap->items[--heap->n];
	size_t i = 0;
	for (size_t child; (child = 2 * i + 1) < heap->n; i = child) {
		if (child + 1 < heap->n &&
			before(&heap->items[child + 1], &heap->items[child]))
			child++;
		if (!before(&heap->items[child], &last))
			break;
		heap->items[i] = heap->items[child];
	}
	if (heap->n)
		heap->items[i] = last;
	return first;
}

static void happen(struct oracle *oracle, const struct happening *it)
{
	switch (it->what) {
	case FLIT_CROSSED:
		oracle_crossed(oracle, it->id);
		break;
	case FLIT_IN:
		oracle_in(oracle, it->packet, it->id);
		break;
	case CREDIT_IN:
		oracle_credit(oracle, it->packet, it->id);
		break;
	case ACK_IN:
		oracle_ack(oracle, it->packet, it->id);
		break;
	case TOKEN_IN:
		oracle_token(oracle, it->packet, it->id);
		break;
	case FETCHED:
		oracle_fetched(oracle, it->id);
		break;
	case FAILED:
		oracle_failed(oracle, it->packet);
		break;
	case DRAINED:
		oracle_drained(oracle, it->packet);
		break;
	case STARTED:
		oracle_started(oracle, it->message);
		break;
	case SENT:
	case DELIVERED:
	case UNDELIVERED:
		oracle_ended(oracle, it->message, it->what);
		break;
	}
}

static tb_time_ps next_of_source(const struct oracle *oracle)
{
	return oracle->source->when(oracle->source->context);
}

static tb_time_ps next_instant(const struct oracle *oracle)
{
	tb_time_ps next = next_of_source(oracle);
	if (oracle->heap.n && oracle->heap.items[0].at < next)
		next = oracle->heap.items[0].at;
	// A death alone does not keep the replay going.
	if (next != TB_TIME_NEVER && oracle->fault_at < next)
		next = oracle->fault_at;
	return next;
}

static void take_messages(struct oracle *oracle)
{
	struct tb_message message;
	int status;
	while ((status = oracle->source->take(oracle->source->context, oracle->now,
			&message, &oracle->failure)) > 0)
		oracle_post(oracle, &message);
	if (status < 0)
		oracle->failure.code = (enum tb_status)status;
}

// Rule 19, phase 1: what arrives.
static void arrive(struct oracle *oracle)
{
	if (oracle->fault_at <= oracle->now)
		oracle_strike(oracle);
	if (next_of_source(oracle) <= oracle->now)
		take_messages(oracle);
	while (oracle->heap.n && oracle->heap.items[0].at <= oracle->now) {
		struct happening first = take_first(&oracle->heap);
		happen(oracle, &first);
	}
	oracle_settle(oracle);
	oracle_tell_source(oracle);
}

// Phase 2: which headers, then which packets at their sources, get VCs.
static void choose(struct oracle *oracle)
{
	if (oracle->broadcasts.touched)
		oracle_choose_branches(oracle);
	for (uint32_t i = 0; i < oracle->switches_now.n; i++)
		oracle_choose_vcs(oracle, oracle->switches_now.ids[i]);
	oracle->switches_now.n = 0;
	for (uint32_t i = 0; i < oracle->nodes_now.n; i++)
		oracle_fetch(oracle, oracle->nodes_now.ids[i]);
	oracle->nodes_now.n = 0;
}

// Phase 3: which flit each link serves.
static void serve(struct oracle *oracle)
{
	for (uint32_t i = 0; i < oracle->links_now.n; i++)
		oracle_serve(oracle, oracle->links_now.ids[i]);
	oracle->links_now.n = 0;
}

// One instant: rounds of the three phases until nothing more happens in it.
static void instant(struct oracle *oracle)
{
	do {
		arrive(oracle);
		choose(oracle);
		serve(oracle);
	} while (next_instant(oracle) <= oracle->now && oracle->failure.code == TB_OK);
}

int oracle_run(struct oracle *oracle, uint64_t n_instants, struct tb_error *error)
{
	for (uint64_t i = 0; i < n_instants; i++) {
		tb_time_ps next = next_instant(oracle);
		if (next == TB_TIME_NEVER) {
			oracle->over = true;
			return oracle->source->finish
				       ? oracle->source->finish(
						 oracle->source->context, error)
				       : 0;
		}
		if (next > oracle->now)
			oracle->now = next;
		instant(oracle);
		if (oracle->link_books.failed || oracle->books.failed ||
			oracle->choice.failed)
			oracle_fail(oracle, TB_ENOMEM, "no memory for what is counted");
		if (oracle->failure.code != TB_OK) {
			if (error)
				*error = oracle->failure;
			return oracle->failure.code;
		}
	}
	return 1;
}

int oracle_checkpoint(struct oracle *oracle, struct tb_error *error)
{
	oracle_count_held(oracle);
	return oracle_books_tell(&oracle->link_books, error);
}

int oracle_finish(struct oracle *oracle, struct tb_error *error)
{
	oracle_count_lasting(oracle);
	int status = oracle_books_tell(&oracle->link_books, error);
	return status == TB_OK ? tb_books_finish(&oracle->books, error) : status;
}

struct tb_engine_stats oracle_stats(const struct oracle *oracle)
{
	struct tb_engine_stats stats = oracle->stats;
	stats.now_ps = oracle->over ? oracle->last_told : oracle->now;
	stats.wait_ps = oracle->link_books.wait_ps;
	return stats;
}

// byte_time is q of the definition: picoseconds a byte with 20 binary places, rounded.
static uint64_t byte_time(uint64_t bytes_per_s)
{
	if (bytes_per_s == 0)
		return 0;
	return (((uint64_t)TB_PS_PER_S << 20) + bytes_per_s / 2) / bytes_per_s;
}

// block_of is the number of flits that the smallest FIFO of the network holds.
static uint32_t block_of(const struct tb_network *net)
{
	uint32_t bytes = UINT32_MAX;
	for (uint32_t i = 0; i < net->n_links; i++)
		if (net->links[i].fifo_bytes < bytes)
			bytes = net->links[i].fifo_bytes;
	return bytes / net->params.flit_bytes;
}

static int make_links(struct oracle *oracle)
{
	const struct tb_network *net = oracle->net;
	size_t n_channels = 0;
	for (uint32_t i = 0; i < net->n_links; i++)
		n_channels += net->links[i].n_vcs;
	oracle->links = calloc(net->n_links, sizeof *oracle->links);
	oracle->channels = calloc(n_channels, sizeof *oracle->channels);
	if (!oracle->links || !oracle->channels)
		return TB_ENOMEM;
	struct channel *channels = oracle->channels;
	for (uint32_t i = 0; i < net->n_links; i++) {
		struct link *link = &oracle->links[i];
		link->info = &net->links[i];
		link->byte_q20 = byte_time(link->info->bytes_per_s);
		link->hop_ps = link->info->latency_ps +
			       rate_time(link->byte_q20, net->params.flit_bytes);
		uint32_t fifo = link->info->fifo_bytes / net->params.flit_bytes;
		link->fifo = fifo - fifo % oracle->block_flits;
		link->channels = channels;
		channels += link->info->n_vcs;
	}
	return TB_OK;
}

static int make_touched(struct touched *list, uint32_t n)
{
	list->ids = malloc((n + 1u) * sizeof *list->ids);
	return list->ids ? TB_OK : TB_ENOMEM;
}

static int make(struct oracle *oracle)
{
	const struct tb_network *net = oracle->net;
	oracle->block_flits = block_of(net);
	oracle->bus_q20 = byte_time(net->params.bus_bytes_per_s);
	oracle->age_q10 = (int64_t)(net->params.age_weight * 1024 + 0.5);
	oracle->switches = calloc(net->n_switches, sizeof *oracle->switches);
	oracle->nodes = calloc(net->n_nodes, sizeof *oracle->nodes);
	oracle->branches = malloc(net->n_nodes * sizeof *oracle->branches);
	if (!oracle->switches || !oracle->nodes || !oracle->branches)
		return TB_ENOMEM;
	for (uint32_t i = 0; i < net->n_nodes; i++)
		oracle->nodes[i].queue_end = &oracle->nodes[i].queue;
	int status = make_links(oracle);
	if (status == TB_OK)
		status = make_touched(&oracle->links_now, net->n_links);
	if (status == TB_OK)
		status = make_touched(&oracle->switches_now, net->n_switches);
	return status == TB_OK ? make_touched(&oracle->nodes_now, net->n_nodes) : status;
}

static int make_books(struct oracle *oracle, const struct tb_observer *observer,
	const struct tb_engine_options *options)
{
	if (observer) {
		oracle->of_flows = *observer;
		oracle->of_flows.start = NULL;
		oracle->of_flows.bin = NULL;
	}
	int status = tb_books_init(&oracle->books, observer ? &oracle->of_flows : NULL,
		NULL, oracle->net->n_links, options->bin_ps,
		observer && !options->without_blame);
	oracle_books_init(&oracle->link_books, observer, oracle->net->n_links,
		oracle->books.bin_ps,
		oracle->books.automatic ? oracle->books.bins_most : 0);
	return status;
}

int oracle_new(struct oracle **oracle, const struct tb_network *network,
	const struct tb_source *source, const struct tb_observer *observer,
	const struct tb_engine_options *options, struct tb_error *error)
{
	struct oracle *made = calloc(1, sizeof *made);
	if (!made)
		return tb_fail(error, TB_ENOMEM, "no memory for the engine");
	made->net = network;
	made->source = source;
	made->delays = options->delays;
	int status = make(made);
	if (status == TB_OK)
		status = tb_route_choice_init(
			&made->choice, network, options->seed, options->faults);
	if (status == TB_OK)
		status = tb_partners_init(
			&made->partners, network->params.partners, network->n_nodes);
	made->fault_at =
		made->choice.n_deaths ? made->choice.deaths[0].at : TB_TIME_NEVER;
	if (status == TB_OK)
		status = make_books(made, observer, options);
	if (status != TB_OK) {
		oracle_free(made);
		return tb_fail(error, (enum tb_status)status,
			"no memory for a network of %u nodes", network->n_nodes);
	}
	*oracle = made;
	return TB_OK;
}

void oracle_free(struct oracle *oracle)
{
	if (!oracle)
		return;
	for (struct packet *packet = oracle->packets, *older; packet; packet = older) {
		older = packet->older;
		free(packet);
	}
	for (struct message *message = oracle->messages, *older; message;
		message = older) {
		older = message->older;
		free(message);
	}
	tb_books_fini(&oracle->books);
	tb_partners_fini(&oracle->partners);
	tb_route_choice_fini(&oracle->choice);
	oracle_books_fini(&oracle->link_books);
	free(oracle->heap.items);
	free(oracle->links);
	free(oracle->channels);
	free(oracle->switches);
	free(oracle->branches);
	free(oracle->nodes);
	free(oracle->links_now.ids);
	free(oracle->switches_now.ids);
	free(oracle->nodes_now.ids);
	free(oracle->endings);
	free(oracle);
}
