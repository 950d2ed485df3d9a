// Time: the loop over instants, their rounds and phases (docs/model.md, "One instant").
//
// Static inline, to be compiled into each model with the model's own table as a constant
// (see switching.h).
#ifndef TB_CLOCK_H
#define TB_CLOCK_H

#include "retries.h"
#include "switching.h"

#define TB_CLOCK_INLINE static inline __attribute__((always_inline))

// An event is prefetched in three stages: when its bucket of the wheel is opened, at most
// TB_CLOCK_PREFETCH_FIRST events and TB_CLOCK_PREFETCH_BUCKETS buckets of time before its
// turn, then TB_CLOCK_PREFETCH_SECOND and TB_CLOCK_PREFETCH_THIRD events before it.
enum {
	TB_CLOCK_PREFETCH_FIRST = 32,
	TB_CLOCK_PREFETCH_SECOND = 16,
	TB_CLOCK_PREFETCH_THIRD = 8
};
enum { TB_CLOCK_PREFETCH_BUCKETS = 128 };

// tb_clock_prefetch has the model fetch into the cache what the next events will read.
TB_CLOCK_INLINE void tb_clock_prefetch(
	struct tb_replay *replay, const struct tb_switching *model)
{
	struct tb_wheel *wheel = &replay->wheel;
	uint32_t n = wheel->end - wheel->first;
	if (n <= TB_CLOCK_PREFETCH_FIRST) {
		tb_time_ps until = replay->now + ((tb_time_ps)TB_CLOCK_PREFETCH_BUCKETS
							 << wheel->shift);
		if (until > replay->opens_until)
			until = replay->opens_until;
		uint32_t more = tb_wheel_open_ahead(wheel, until);
		model->prefetch_first(replay, wheel->due + wheel->end - more, more);
	}
	if (n > TB_CLOCK_PREFETCH_SECOND)
		model->prefetch_second(
			replay, wheel->due[wheel->first + TB_CLOCK_PREFETCH_SECOND]);
	if (n > TB_CLOCK_PREFETCH_THIRD)
		model->prefetch_third(
			replay, wheel->due[wheel->first + TB_CLOCK_PREFETCH_THIRD]);
}

// tb_clock_prefetch_row does so for what comes next in a row.
TB_CLOCK_INLINE void tb_clock_prefetch_row(struct tb_replay *replay,
	const struct tb_switching *model, const struct tb_wheel_row *row)
{
	uint32_t n = row->end - row->begin;
	if (n > TB_CLOCK_PREFETCH_FIRST)
		model->prefetch_first(replay,
			&row->events[(row->begin + TB_CLOCK_PREFETCH_FIRST) & row->mask],
			1);
	if (n > TB_CLOCK_PREFETCH_SECOND)
		model->prefetch_second(replay,
			row->events[(row->begin + TB_CLOCK_PREFETCH_SECOND) & row->mask]);
	if (n > TB_CLOCK_PREFETCH_THIRD)
		model->prefetch_third(replay,
			row->events[(row->begin + TB_CLOCK_PREFETCH_THIRD) & row->mask]);
}

// tb_clock_take takes an event of this instant.
TB_CLOCK_INLINE struct tb_event tb_clock_take(
	struct tb_replay *replay, const struct tb_switching *model)
{
	struct tb_wheel *wheel = &replay->wheel;
	uint32_t row = tb_wheel_row_at(wheel, model->n_rows, replay->now);
	if (replay->prefetches && row == model->n_rows)
		tb_clock_prefetch(replay, model);
	else if (replay->prefetches)
		tb_clock_prefetch_row(replay, model, &wheel->rows[row]);
	replay->stats.n_events++;
	return tb_wheel_take_row(wheel, model->n_rows, row);
}

// tb_clock_settle_choices does phases 2 and 3 of an instant.
TB_CLOCK_INLINE void tb_clock_settle_choices(
	struct tb_replay *replay, const struct tb_switching *model)
{
	model->choose(replay);
	tb_nodes_choose(replay);
	if (model->serve)
		model->serve(replay);
}

// tb_clock_from_outside does what comes from outside the network: failures of links, and
// messages.
TB_CLOCK_INLINE void tb_clock_from_outside(
	struct tb_replay *replay, const struct tb_switching *model)
{
	if (replay->fault_at <= replay->now)
		tb_retries_fail_links(replay, model->link_failed);
	if (replay->source_at <= replay->now)
		tb_messages_take(replay);
	tb_messages_start(replay);
	tb_messages_look_outside(replay);
}

TB_CLOCK_INLINE void tb_clock_arrive(
	struct tb_replay *replay, const struct tb_switching *model, struct tb_event event)
{
	if (event.kind >= TB_EVENT_OF_MODEL)
		model->arrive(replay, event);
	else
		tb_nodes_handle(replay, event);
}

// tb_clock_round_of_many does what is left of a round of an instant, phase by phase.
TB_CLOCK_INLINE void tb_clock_round_of_many(
	struct tb_replay *replay, const struct tb_switching *model)
{
	while (tb_wheel_next(&replay->wheel, model->n_rows, replay->now) <= replay->now)
		tb_clock_arrive(replay, model, tb_clock_take(replay, model));
	if (replay->retries)
		tb_retries_settle(replay);
	if (replay->n_endings)
		tb_messages_report(replay);
	tb_clock_settle_choices(replay, model);
}

// tb_clock_round does a round of an instant. Most consist of one event: what the phases
// would do for it is done at once.
TB_CLOCK_INLINE void tb_clock_round(
	struct tb_replay *replay, const struct tb_switching *model)
{
	if (replay->outside_at <= replay->now) {
		tb_clock_from_outside(replay, model);
		tb_clock_round_of_many(replay, model);
		return;
	}
	struct tb_event event = tb_clock_take(replay, model);
	if (tb_wheel_has(&replay->wheel, model->n_rows, replay->now)) {
		tb_clock_arrive(replay, model, event);
		tb_clock_round_of_many(replay, model);
	} else if (event.kind >= TB_EVENT_OF_MODEL) {
		model->alone(replay, event);
	} else {
		tb_nodes_alone(replay, event);
		if (model->serve)
			model->serve(replay);
	}
}

// tb_clock_only_faults_left returns whether nothing is left to happen but failures of
// links, which do not keep a replay going.
static inline bool tb_clock_only_faults_left(const struct tb_replay *replay)
{
	return replay->outside_at == replay->fault_at &&
	       replay->source_at == TB_TIME_NEVER && replay->starting[0].n == 0 &&
	       replay->starting[1].n == 0 && tb_wheel_is_empty(&replay->wheel);
}

TB_CLOCK_INLINE tb_time_ps tb_clock_next_instant(
	struct tb_replay *replay, const struct tb_switching *model)
{
	tb_time_ps event =
		tb_wheel_next(&replay->wheel, model->n_rows, replay->outside_at);
	if (event < replay->outside_at)
		return event;
	return tb_clock_only_faults_left(replay) ? TB_TIME_NEVER : replay->outside_at;
}

// tb_clock_pass_bins closes the bins that end at or before `next`, and jumps over time in
// which nothing is held and nothing waits.
int tb_clock_pass_bins(struct tb_replay *replay, const struct tb_switching *model,
	tb_time_ps next, struct tb_error *error) TB_MUST_USE;

// tb_clock_pause has the replay's time be pause_at; TB_ENGINE_PAUSED.
int tb_clock_pause(struct tb_replay *replay, const struct tb_switching *model,
	struct tb_error *error) TB_MUST_USE;

// tb_clock_end ends a replay in which nothing is left to happen.
int tb_clock_end(struct tb_replay *replay, struct tb_error *error) TB_MUST_USE;

// tb_clock_finish passes the remaining records to the observer; see tb_engine_finish.
int tb_clock_finish(struct tb_replay *replay, const struct tb_switching *model,
	struct tb_error *error) TB_MUST_USE;

// tb_clock_failed returns whether the replay has failed, with the failures that its parts
// keep for themselves.
TB_CLOCK_INLINE bool tb_clock_failed(struct tb_replay *replay)
{
	if (replay->wheel.failed)
		tb_replay_no_memory(replay, "the events");
	if (replay->records.failed)
		tb_replay_no_memory(replay, "what is counted");
	return replay->failure.code != TB_OK;
}

// tb_clock_window is a model's `window`. In a window a part has only its own events and
// the messages that start in it. The wheel opens nothing beyond: what other parts hand
// over then would have to be sorted in.
TB_CLOCK_INLINE void tb_clock_window(
	struct tb_replay *replay, const struct tb_switching *model, tb_time_ps until)
{
	replay->opens_until = until - 1;
	for (;;) {
		tb_time_ps outside = replay->outside_at;
		tb_time_ps next = tb_wheel_next(
			&replay->wheel, model->n_rows, outside < until ? outside : until);
		if (outside < next)
			next = outside;
		if (next >= until)
			return;
		bool goes_on = model->in_rounds && next == replay->now;
		replay->round = goes_on ? replay->round + 1 : 0;
		replay->now = next;
		tb_clock_round(replay, model);
		if (tb_clock_failed(replay))
			return;
	}
}

// tb_clock_run is a model's `run`. An event that is put for the present instant (a fetch
// of no bytes, a message without overhead) makes a further round.
TB_CLOCK_INLINE int tb_clock_run(struct tb_replay *replay,
	const struct tb_switching *model, uint64_t n_rounds, struct tb_error *error)
{
	for (uint64_t i = 0; i < n_rounds; i++) {
		tb_time_ps next = tb_clock_next_instant(replay, model);
		if (next >= replay->records.bin_end || next >= replay->pause_at) {
			if (next == TB_TIME_NEVER)
				return tb_clock_end(replay, error);
			if (next >= replay->pause_at)
				return tb_clock_pause(replay, model, error);
			int status = tb_clock_pass_bins(replay, model, next, error);
			if (status != TB_OK)
				return status;
		}
		replay->now = next;
		tb_clock_round(replay, model);
		if (tb_clock_failed(replay)) {
			if (error)
				*error = replay->failure;
			return replay->failure.code;
		}
	}
	return 1;
}

#endif
