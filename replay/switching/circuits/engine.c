// Time: the loop over instants and their phases.
#include "engine.h"

#include "engine_impl.h"
#include "faulty.h"

void tb_engine_fail(struct tb_engine *engine, enum tb_status code, const char *sentence)
{
	if (engine->failure.code == TB_OK)
		tb_fail(&engine->failure, code, "%s", sentence);
}

static void handle(struct tb_engine *engine, struct tb_event event)
{
	uint32_t id = event.subject;
	switch ((enum event_kind)event.kind) {
	case EV_HEADER:
		tb_circuit_header(engine, id);
		break;
	case EV_TAIL:
		tb_endpoint_tail(engine, id);
		break;
	case EV_READY:
		tb_bursts_ready(engine, id);
		break;
	case EV_LINK:
		engine->links[id].event_set = false;
		list_add(&engine->links_now, id, &engine->links[id].listed);
		break;
	case EV_SWITCH:
		list_add(&engine->switches_now, id, &engine->switches[id].listed);
		break;
	case EV_NODE:
		list_add(&engine->nodes_now, id, &engine->nodes[id].listed);
		break;
	case EV_SENT:
	case EV_DELIVERED:
	case EV_UNDELIVERED:
		tb_endpoint_ended(engine, id, (enum event_kind)event.kind);
		break;
	case EV_ERROR:
		tb_faulty_error(engine, id);
		break;
	case EV_BROADCAST:
		engine->broadcasts.listed = true;
		break;
	}
}

static void start_posted(struct tb_engine *engine)
{
	while (engine->n_posted) {
		uint32_t id = engine->posted[engine->posted_first];
		if (engine->messages[id].start_at > engine->now)
			break;
		engine->posted_first = (engine->posted_first + 1) % engine->posted_room;
		engine->n_posted--;
		tb_endpoint_start(engine, id);
	}
}

static void take_messages(struct tb_engine *engine)
{
	const struct tb_source *source = engine->source;
	struct tb_message message;
	int status;
	while ((status = source->take(
			source->context, engine->now, &message, &engine->failure)) > 0)
		tb_endpoint_post(engine, &message);
	if (status < 0)
		engine->failure.code = (enum tb_status)status;
	engine->source_at = source->when(source->context);
}

static void serve_links(struct tb_engine *engine)
{
	for (uint32_t i = 0; i < engine->links_now.n; i++)
		tb_bursts_serve(engine, engine->links_now.ids[i]);
	engine->links_now.n = 0;
}

// settle_choices is phases 2 and 3 of an instant.
static void settle_choices(struct tb_engine *engine)
{
	if (engine->broadcasts.listed)
		tb_circuit_broadcasts(engine);
	for (uint32_t i = 0; i < engine->switches_now.n; i++)
		tb_circuit_switch(engine, engine->switches_now.ids[i]);
	engine->switches_now.n = 0;
	for (uint32_t i = 0; i < engine->nodes_now.n; i++)
		tb_endpoint_node(engine, engine->nodes_now.ids[i]);
	engine->nodes_now.n = 0;
	serve_links(engine);
}

// round_of_many is a round of an instant, phase by phase.
static void round_of_many(struct tb_engine *engine)
{
	if (engine->outside_at <= engine->now) {
		if (engine->fault_at <= engine->now)
			tb_faulty_strike(engine);
		if (engine->source_at <= engine->now)
			take_messages(engine);
		start_posted(engine);
		tb_endpoint_look_outside(engine);
	}
	while (tb_wheel_next(&engine->wheel, engine->now) <= engine->now) {
		engine->stats.n_events++;
		handle(engine, tb_wheel_take(&engine->wheel));
	}
	if (engine->faulty)
		tb_faulty_settle(engine);
	tb_endpoint_tell_source(engine);
	settle_choices(engine);
}

// round_of_one is a round in which one event is all that happens: most are. What the
// phases would do for it is done at once.
static void round_of_one(struct tb_engine *engine)
{
	struct tb_event event = tb_wheel_take(&engine->wheel);
	uint32_t id = event.subject;
	engine->stats.n_events++;
	switch ((enum event_kind)event.kind) {
	case EV_HEADER:
		tb_circuit_header_alone(engine, id);
		break;
	case EV_TAIL:
		tb_endpoint_tail(engine, id);
		return;
	case EV_READY:
		tb_bursts_ready(engine, id);
		break;
	case EV_LINK:
		engine->links[id].event_set = false;
		tb_bursts_serve(engine, id);
		break;
	case EV_SWITCH:
		tb_circuit_switch(engine, id);
		break;
	case EV_NODE:
		tb_endpoint_node(engine, id);
		break;
	case EV_SENT:
	case EV_DELIVERED:
	case EV_UNDELIVERED:
		tb_endpoint_ended(engine, id, (enum event_kind)event.kind);
		tb_endpoint_tell_source(engine);
		return;
	case EV_ERROR:
		tb_faulty_error_alone(engine, id);
		break;
	case EV_BROADCAST:
		tb_circuit_broadcasts(engine);
		break;
	}
	serve_links(engine);
}

// only_deaths_left says whether nothing happens any more but that something dies, which
// does not keep a replay going.
static bool only_deaths_left(const struct tb_engine *engine)
{
	return engine->outside_at == engine->fault_at &&
	       engine->source_at == TB_TIME_NEVER && engine->n_posted == 0 &&
	       tb_wheel_is_empty(&engine->wheel);
}

static tb_time_ps next_instant(struct tb_engine *engine)
{
	tb_time_ps event = tb_wheel_next(&engine->wheel, engine->outside_at);
	if (event < engine->outside_at)
		return event;
	return only_deaths_left(engine) ? TB_TIME_NEVER : engine->outside_at;
}

// pass_bins closes the bins that end at or before `next`, and jumps over time in which
// nothing is held and nothing waits.
static int pass_bins(struct tb_engine *engine, tb_time_ps next, struct tb_error *error)
{
	struct tb_books *books = &engine->books;
	while (next >= books->bin_end) {
		bool lasts = tb_circuit_settle(engine, books->bin_end);
		int status = tb_books_close(books, error);
		if (status != TB_OK)
			return status;
		if (!lasts && next >= books->bin_end && tb_books_idle(books))
			tb_books_jump(books, next);
	}
	return TB_OK;
}

// failed gathers what went wrong out of sight.
static bool failed(struct tb_engine *engine)
{
	if (engine->wheel.failed)
		tb_engine_fail(engine, TB_ENOMEM, "no memory for the events");
	if (engine->books.failed)
		tb_engine_fail(engine, TB_ENOMEM, "no memory for what is counted");
	return engine->failure.code != TB_OK;
}

// What is put for this same instant (an empty fetch, a message without overhead) makes a
// further round.
int tb_engine_run(struct tb_engine *engine, uint64_t n_rounds, struct tb_error *error)
{
	for (uint64_t i = 0; i < n_rounds; i++) {
		tb_time_ps next = next_instant(engine);
		if (next == TB_TIME_NEVER) {
			engine->over = true;
			if (engine->source->finish)
				return engine->source->finish(
					engine->source->context, error);
			return 0;
		}
		if (next >= engine->books.bin_end) {
			int status = pass_bins(engine, next, error);
			if (status != TB_OK)
				return status;
		}
		engine->now = next;
		if (engine->outside_at > next && tb_wheel_is_alone(&engine->wheel))
			round_of_one(engine);
		else
			round_of_many(engine);
		if (failed(engine)) {
			if (error)
				*error = engine->failure;
			return engine->failure.code;
		}
	}
	return 1;
}

int tb_engine_checkpoint(struct tb_engine *engine, struct tb_error *error)
{
	return tb_books_tell_bins(&engine->books, error);
}

int tb_engine_finish(struct tb_engine *engine, struct tb_error *error)
{
	// The last circuits are held a little beyond the last event.
	tb_time_ps end = engine->now;
	for (size_t i = 0; i < (size_t)engine->n_slots * engine->vcs_most; i++) {
		tb_time_ps at = engine->free_at[i];
		if (at != TB_TIME_NEVER && at > end)
			end = at;
	}
	int status = pass_bins(engine, end, error);
	if (status != TB_OK)
		return status;
	(void)tb_circuit_settle(engine, end);
	tb_circuit_blame_open(engine, end);
	status = tb_books_close(&engine->books, error);
	return status == TB_OK ? tb_books_finish(&engine->books, error) : status;
}

struct tb_engine_stats tb_engine_stats(const struct tb_engine *engine)
{
	struct tb_engine_stats stats = engine->stats;
	stats.now_ps = engine->over ? engine->last_told : engine->now;
	stats.wait_ps = engine->books.wait_ps;
	stats.link_bytes =
		(uint32_t)(sizeof(struct link) +
			   engine->vcs_most * (sizeof(struct vc) + sizeof(tb_time_ps)) +
			   sizeof(uint32_t) + sizeof(struct tb_cell *) +
			   sizeof(struct tb_link_sample));
	stats.packet_bytes = (uint32_t)engine->packet_bytes;
	stats.n_in_flight = engine->n_packets_most - engine->n_free_packets;
	return stats;
}
