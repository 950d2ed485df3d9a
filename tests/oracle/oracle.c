// Time: instants, their rounds and phases; the life of the oracle.
#include "oracle.h"

#include "circuit_params.h"
#include "credits/credits.h"

#include <stdlib.h>
#include <string.h>

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

void *oracle_zeroed(size_t n, size_t size)
{
	void *made = calloc(n ? n : 1, size);
	if (!made)
		abort();
	return made;
}

void oracle_foresee(struct oracle *oracle, struct happening happening)
{
	struct heap *heap = &oracle->heap;
	heap->items = oracle_one_more(heap->items, heap->n, sizeof *heap->items);
	happening.number = oracle->n_foreseen++;
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
	case TRAIN_OVER:
		oracle_train_over(oracle, it->id);
		break;
	case TOKENS_SENT:
		oracle_touch_link(oracle, it->id);
		break;
	case BLOCK_IN:
		credits_block_in(oracle, it->packet, it->id);
		break;
	case BLOCK_CROSSED:
		credits_block_crossed(oracle, it->packet, it->id);
		break;
	case HEADER_IN:
		credits_header_in(oracle, it->packet, it->id);
		break;
	case READY:
		credits_ready(oracle, it->packet);
		break;
	case UPDATE_IN:
		credits_update_in(oracle, it->id);
		break;
	case CNP_IN:
		credits_notified(oracle, it->id);
		break;
	case PACED:
		touch(&oracle->nodes_now, it->id, &oracle->nodes[it->id].touched);
		break;
	case ACKNOWLEDGED:
		credits_acknowledged(oracle, it->packet);
		break;
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
		oracle_fetched(oracle, it->id, it->packet->vl);
		break;
	case FAILED:
		oracle_failed(oracle, it->packet);
		break;
	case DRAINED:
		oracle_drained(oracle, it->packet);
		if (oracle->credits)
			credits_drained(oracle, it->packet);
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
	// A failure alone does not keep the replay going.
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
		oracle_fail_links(oracle);
	if (next_of_source(oracle) <= oracle->now)
		take_messages(oracle);
	while (oracle->heap.n && oracle->heap.items[0].at <= oracle->now) {
		struct happening first = take_first(&oracle->heap);
		if (oracle->credits && first.what != UPDATE_IN && first.what != PACED &&
			first.what != CNP_IN)
			oracle->credits->last_instant = oracle->now;
		happen(oracle, &first);
	}
	oracle_settle(oracle);
	oracle_report_to_source(oracle);
}

// Phase 2: which headers, then which packets at their sources, get VCs.
// With credits: what came chooses its route.
static void choose(struct oracle *oracle)
{
	if (oracle->credits) {
		credits_choose_routes(oracle);
	} else {
		oracle_choose_branches(oracle);
		for (uint32_t i = 0; i < oracle->switches_now.n; i++)
			oracle_choose_vcs(oracle, oracle->switches_now.ids[i]);
		oracle->switches_now.n = 0;
	}
	for (uint32_t i = 0; i < oracle->nodes_now.n; i++)
		oracle_fetch(oracle, oracle->nodes_now.ids[i]);
	oracle->nodes_now.n = 0;
}

// Phase 3: which flit each link serves; with credits, which packet.
static void serve(struct oracle *oracle)
{
	if (oracle->credits)
		credits_serve(oracle);
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
	} while ((next_instant(oracle) <= oracle->now || oracle->switches_now.n > 0) &&
		 oracle->failure.code == TB_OK);
	if (oracle->credits) {
		credits_send_pauses(oracle);
		credits_note_instant(oracle);
	} else {
		oracle_note_blocked(oracle);
	}
}

// run simulates until nothing is left to do, or so many instants have passed.
static int run(struct oracle *oracle, struct tb_error *error)
{
	for (uint64_t i = 0; i < oracle->options->n_instants; i++) {
		tb_time_ps next = next_instant(oracle);
		if (next == TB_TIME_NEVER) {
			oracle->stats.now_ps = oracle->last_reported;
			return oracle->source->finish
				       ? oracle->source->finish(
						 oracle->source->context, error)
				       : TB_OK;
		}
		if (next > oracle->now)
			oracle->now = next;
		oracle->stats.now_ps = oracle->now;
		instant(oracle);
		if (oracle->failure.code != TB_OK) {
			if (error)
				*error = oracle->failure;
			return oracle->failure.code;
		}
	}
	return TB_OK;
}

// report gives the observer all that was noted.
static int report(struct oracle *oracle, const struct tb_observer *observer)
{
	if (oracle->credits) {
		credits_note_lasting(oracle);
	} else {
		oracle_note_crossing(oracle);
		oracle_note_lasting(oracle);
	}
	oracle->facts.leads_wanted = oracle->credits;
	if (!observer)
		return TB_OK;
	return oracle_report(&oracle->facts, observer, oracle->net,
		oracle->options->bin_ps,
		oracle->credits ? oracle->credits->last_instant : oracle->now);
}

// block_of is the number of flits that the smallest FIFO of the network holds.
static uint32_t block_of(const struct tb_network *net)
{
	uint32_t bytes = UINT32_MAX;
	for (uint32_t i = 0; i < net->n_links; i++)
		if (net->links[i].fifo_bytes < bytes)
			bytes = net->links[i].fifo_bytes;
	return bytes / tb_circuit_params(&net->params)->flit_bytes;
}

static void make_links(struct oracle *oracle)
{
	const struct tb_network *net = oracle->net;
	size_t n_channels = 0;
	for (uint32_t i = 0; i < net->n_links; i++)
		n_channels += net->links[i].n_vcs;
	oracle->links = oracle_zeroed(net->n_links, sizeof *oracle->links);
	oracle->channels = oracle_zeroed(n_channels, sizeof *oracle->channels);
	struct channel *channels = oracle->channels;
	for (uint32_t i = 0; i < net->n_links; i++) {
		struct link *link = &oracle->links[i];
		link->info = &net->links[i];
		link->byte_q20 = byte_time(link->info->bytes_per_s);
		if (oracle->credits)
			continue;
		link->hop_ps = link->info->latency_ps +
			       rate_time(link->byte_q20,
				       tb_circuit_params(&net->params)->flit_bytes);
		uint32_t fifo = link->info->fifo_bytes /
				tb_circuit_params(&net->params)->flit_bytes;
		link->fifo = fifo - fifo % oracle->block_flits;
		link->channels = channels;
		channels += link->info->n_vcs;
	}
}

static void make_faults(struct oracle *oracle, const struct tb_faults *faults)
{
	oracle->fault_at = TB_TIME_NEVER;
	if (!faults)
		return;
	oracle->dead_at = oracle_zeroed(oracle->net->n_links, sizeof *oracle->dead_at);
	for (uint32_t i = 0; i < oracle->net->n_links; i++) {
		tb_time_ps at = tb_faults_dead_at(faults, (struct tb_link){i});
		oracle->dead_at[i] = at;
		if (at > 0 && at < oracle->fault_at)
			oracle->fault_at = at;
	}
}

static void make_widths(struct oracle *oracle)
{
	struct tb_shape shape;
	uint32_t width = 1;
	if (tb_shape_parse(&shape, oracle->net->params.shape, NULL) != TB_OK)
		return;
	oracle->shaped = true;
	for (uint32_t i = 0; i < shape.n_levels; i++)
		oracle->widths[i] = width *= shape.w[i];
}

static void make(struct oracle *oracle)
{
	const struct tb_network *net = oracle->net;
	if (strcmp(net->params.switching, "credits") == 0)
		credits_make(oracle);
	else
		oracle->block_flits = block_of(net);
	oracle->bus_q20 = byte_time(tb_circuit_bus_rate(&net->params, false));
	oracle->tokens_q16 =
		(tb_time_ps)(tb_circuit_params(&net->params)->link_tokens * 65536 + 0.5);
	oracle->age_q10 =
		(int64_t)(tb_circuit_params(&net->params)->age_weight * 1024 + 0.5);
	oracle->switches = oracle_zeroed(net->n_switches, sizeof *oracle->switches);
	oracle->nodes = oracle_zeroed(net->n_nodes, sizeof *oracle->nodes);
	oracle->branches = oracle_zeroed(net->n_nodes, sizeof *oracle->branches);
	oracle->seen = oracle_zeroed(net->n_nodes, sizeof *oracle->seen);
	for (uint32_t i = 0; i < net->n_nodes; i++)
		oracle->nodes[i].queue_end = &oracle->nodes[i].queue;
	oracle->links_now.ids = oracle_zeroed(net->n_links, sizeof(uint32_t));
	oracle->switches_now.ids = oracle_zeroed(net->n_switches, sizeof(uint32_t));
	oracle->nodes_now.ids = oracle_zeroed(net->n_nodes, sizeof(uint32_t));
	make_links(oracle);
	oracle->n_posted_of_job = oracle_zeroed(
		oracle->options->n_jobs + 1u, sizeof *oracle->n_posted_of_job);
	make_faults(oracle, oracle->options->faults);
	make_widths(oracle);
}

static void unmake(struct oracle *oracle)
{
	while (oracle->packets)
		oracle_drop_packet(oracle, oracle->packets);
	while (oracle->messages)
		oracle_drop_message(oracle, oracle->messages);
	oracle_free_distances(oracle);
	credits_unmake(oracle);
	free(oracle->facts.list);
	free(oracle->heap.items);
	free(oracle->links);
	free(oracle->channels);
	free(oracle->switches);
	free(oracle->branches);
	free(oracle->seen);
	free(oracle->nodes);
	free(oracle->links_now.ids);
	free(oracle->switches_now.ids);
	free(oracle->nodes_now.ids);
	free(oracle->endings);
	free(oracle->n_posted_of_job);
	free(oracle->dead_at);
}

int oracle_replay(const struct tb_network *network, const struct tb_source *source,
	const struct tb_observer *observer, const struct oracle_options *options,
	struct oracle_stats *stats, struct tb_error *error)
{
	struct oracle oracle = {.net = network, .source = source, .options = options};
	make(&oracle);
	int status = run(&oracle, error);
	if (status == TB_OK)
		status = report(&oracle, observer);
	*stats = oracle.stats;
	unmake(&oracle);
	return status;
}
