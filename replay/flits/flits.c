// Time: instants, their rounds and phases; the life of the reference engine.
#include "flits.h"

#include "flits_impl.h"

#include <stdlib.h>

void tb_flits_fail(struct tb_flits *flits, enum tb_status code, const char *sentence)
{
	if (flits->failure.code == TB_OK)
		tb_fail(&flits->failure, code, "%s", sentence);
}

// before: of one instant, messages start (rule 20) before packets ask for the bus; beyond
// that no order of arrivals matters.
static bool before(const struct happening *a, const struct happening *b)
{
	if (a->at != b->at)
		return a->at < b->at;
	return a->what != b->what ? a->what < b->what : a->number < b->number;
}

void tb_flits_foresee(struct tb_flits *flits, struct happening happening)
{
	struct heap *heap = &flits->heap;
	if (heap->n == heap->room) {
		size_t room = heap->room ? heap->room * 2 : 1024;
		void *moved = realloc(heap->items, room * sizeof *heap->items);
		if (!moved) {
			tb_flits_fail(flits, TB_ENOMEM, "no memory for the events");
			return;
		}
		heap->items = moved;
		heap->room = room;
	}
	happening.number = flits->stats.n_events++;
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

static void happen(struct tb_flits *flits, const struct happening *it)
{
	switch (it->what) {
	case FLIT_CROSSED:
		tb_flits_crossed(flits, it->id);
		break;
	case FLIT_IN:
		tb_flits_in(flits, it->packet, it->id);
		break;
	case CREDIT_IN:
		tb_flits_credit(flits, it->packet, it->id);
		break;
	case ACK_IN:
		tb_flits_ack(flits, it->packet, it->id);
		break;
	case TOKEN_IN:
		tb_flits_token(flits, it->packet, it->id);
		break;
	case FETCHED:
		tb_flits_fetched(flits, it->id);
		break;
	case FAILED:
		tb_flits_failed(flits, it->packet);
		break;
	case DRAINED:
		tb_flits_drained(flits, it->packet);
		break;
	case STARTED:
		tb_flits_started(flits, it->message);
		break;
	case SENT:
	case DELIVERED:
	case UNDELIVERED:
		tb_flits_ended(flits, it->message, it->what);
		break;
	}
}

static tb_time_ps next_of_source(const struct tb_flits *flits)
{
	return flits->source->when(flits->source->context);
}

static tb_time_ps next_instant(const struct tb_flits *flits)
{
	tb_time_ps next = next_of_source(flits);
	if (flits->heap.n && flits->heap.items[0].at < next)
		next = flits->heap.items[0].at;
	// A death alone does not keep the replay going.
	if (next != TB_TIME_NEVER && flits->fault_at < next)
		next = flits->fault_at;
	return next;
}

static void take_messages(struct tb_flits *flits)
{
	struct tb_message message;
	int status;
	while ((status = flits->source->take(flits->source->context, flits->now, &message,
			&flits->failure)) > 0)
		tb_flits_post(flits, &message);
	if (status < 0)
		flits->failure.code = (enum tb_status)status;
}

// Rule 19, phase 1: what arrives.
static void arrive(struct tb_flits *flits)
{
	if (flits->fault_at <= flits->now)
		tb_flits_strike(flits);
	if (next_of_source(flits) <= flits->now)
		take_messages(flits);
	while (flits->heap.n && flits->heap.items[0].at <= flits->now) {
		struct happening first = take_first(&flits->heap);
		happen(flits, &first);
	}
	tb_flits_settle(flits);
	tb_flits_tell_source(flits);
}

// Phase 2: which headers, then which packets at their sources, get VCs.
static void choose(struct tb_flits *flits)
{
	if (flits->broadcasts.touched)
		tb_flits_choose_branches(flits);
	for (uint32_t i = 0; i < flits->switches_now.n; i++)
		tb_flits_choose_vcs(flits, flits->switches_now.ids[i]);
	flits->switches_now.n = 0;
	for (uint32_t i = 0; i < flits->nodes_now.n; i++)
		tb_flits_fetch(flits, flits->nodes_now.ids[i]);
	flits->nodes_now.n = 0;
}

// Phase 3: which flit each link serves.
static void serve(struct tb_flits *flits)
{
	for (uint32_t i = 0; i < flits->links_now.n; i++)
		tb_flits_serve(flits, flits->links_now.ids[i]);
	flits->links_now.n = 0;
}

// One instant: rounds of the three phases until nothing more happens in it.
static void instant(struct tb_flits *flits)
{
	do {
		arrive(flits);
		choose(flits);
		serve(flits);
	} while (next_instant(flits) <= flits->now && flits->failure.code == TB_OK);
}

int tb_flits_run(struct tb_flits *flits, uint64_t n_instants, struct tb_error *error)
{
	for (uint64_t i = 0; i < n_instants; i++) {
		tb_time_ps next = next_instant(flits);
		if (next == TB_TIME_NEVER) {
			flits->over = true;
			return flits->source->finish
				       ? flits->source->finish(
						 flits->source->context, error)
				       : 0;
		}
		if (next > flits->now)
			flits->now = next;
		instant(flits);
		if (flits->link_books.failed || flits->books.failed ||
			flits->choice.failed)
			tb_flits_fail(flits, TB_ENOMEM, "no memory for what is counted");
		if (flits->failure.code != TB_OK) {
			if (error)
				*error = flits->failure;
			return flits->failure.code;
		}
	}
	return 1;
}

int tb_flits_checkpoint(struct tb_flits *flits, struct tb_error *error)
{
	tb_flits_count_held(flits);
	return tb_flits_books_tell(&flits->link_books, error);
}

int tb_flits_finish(struct tb_flits *flits, struct tb_error *error)
{
	tb_flits_count_lasting(flits);
	int status = tb_flits_books_tell(&flits->link_books, error);
	return status == TB_OK ? tb_books_finish(&flits->books, error) : status;
}

struct tb_engine_stats tb_flits_stats(const struct tb_flits *flits)
{
	struct tb_engine_stats stats = flits->stats;
	stats.now_ps = flits->over ? flits->last_told : flits->now;
	stats.wait_ps = flits->link_books.wait_ps;
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

static int make_links(struct tb_flits *flits)
{
	const struct tb_network *net = flits->net;
	size_t n_channels = 0;
	for (uint32_t i = 0; i < net->n_links; i++)
		n_channels += net->links[i].n_vcs;
	flits->links = calloc(net->n_links, sizeof *flits->links);
	flits->channels = calloc(n_channels, sizeof *flits->channels);
	if (!flits->links || !flits->channels)
		return TB_ENOMEM;
	struct channel *channels = flits->channels;
	for (uint32_t i = 0; i < net->n_links; i++) {
		struct link *link = &flits->links[i];
		link->info = &net->links[i];
		link->byte_q20 = byte_time(link->info->bytes_per_s);
		link->hop_ps = link->info->latency_ps +
			       rate_time(link->byte_q20, net->params.flit_bytes);
		uint32_t fifo = link->info->fifo_bytes / net->params.flit_bytes;
		link->fifo = fifo - fifo % flits->block_flits;
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

static int make(struct tb_flits *flits)
{
	const struct tb_network *net = flits->net;
	flits->block_flits = block_of(net);
	flits->bus_q20 = byte_time(net->params.bus_bytes_per_s);
	flits->age_q10 = (int64_t)(net->params.age_weight * 1024 + 0.5);
	flits->switches = calloc(net->n_switches, sizeof *flits->switches);
	flits->nodes = calloc(net->n_nodes, sizeof *flits->nodes);
	flits->branches = malloc(net->n_nodes * sizeof *flits->branches);
	if (!flits->switches || !flits->nodes || !flits->branches)
		return TB_ENOMEM;
	for (uint32_t i = 0; i < net->n_nodes; i++)
		flits->nodes[i].queue_end = &flits->nodes[i].queue;
	int status = make_links(flits);
	if (status == TB_OK)
		status = make_touched(&flits->links_now, net->n_links);
	if (status == TB_OK)
		status = make_touched(&flits->switches_now, net->n_switches);
	return status == TB_OK ? make_touched(&flits->nodes_now, net->n_nodes) : status;
}

static int make_books(struct tb_flits *flits, const struct tb_observer *observer,
	const struct tb_engine_options *options)
{
	if (observer) {
		flits->of_flows = *observer;
		flits->of_flows.start = NULL;
		flits->of_flows.bin = NULL;
	}
	int status = tb_books_init(&flits->books, observer ? &flits->of_flows : NULL,
		NULL, flits->net->n_links, options->bin_ps,
		observer && !options->without_blame);
	tb_flits_books_init(&flits->link_books, observer, flits->net->n_links,
		flits->books.bin_ps, flits->books.automatic ? flits->books.bins_most : 0);
	return status;
}

int tb_flits_new(struct tb_flits **flits, const struct tb_network *network,
	const struct tb_source *source, const struct tb_observer *observer,
	const struct tb_engine_options *options, struct tb_error *error)
{
	struct tb_flits *made = calloc(1, sizeof *made);
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
		tb_flits_free(made);
		return tb_fail(error, (enum tb_status)status,
			"no memory for a network of %u nodes", network->n_nodes);
	}
	*flits = made;
	return TB_OK;
}

void tb_flits_free(struct tb_flits *flits)
{
	if (!flits)
		return;
	for (struct packet *packet = flits->packets, *older; packet; packet = older) {
		older = packet->older;
		free(packet);
	}
	for (struct message *message = flits->messages, *older; message;
		message = older) {
		older = message->older;
		free(message);
	}
	tb_books_fini(&flits->books);
	tb_partners_fini(&flits->partners);
	tb_route_choice_fini(&flits->choice);
	tb_flits_books_fini(&flits->link_books);
	free(flits->heap.items);
	free(flits->links);
	free(flits->channels);
	free(flits->switches);
	free(flits->branches);
	free(flits->nodes);
	free(flits->links_now.ids);
	free(flits->switches_now.ids);
	free(flits->nodes_now.ids);
	free(flits->endings);
	free(flits);
}
