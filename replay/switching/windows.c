#include "windows.h"

#include "across.h"
#include "array.h"
#include "clock.h"
#include "switching.h"
#include "team.h"

#include <stdlib.h>
#include <string.h>

// A window with fewer events than this is left to one thread: waking others costs more.
enum { FEW_EVENTS = 64 };

// Waits are entered into the blame when at least this many, divided by the threads, have
// been gathered: in time that is left or, when as many more have been gathered, by one
// more task in each window.
enum { MANY_WAITS = 16384 };

struct part_result { // what the parts of a section leave for the thread that goes on
	_Alignas(64) tb_time_ps next; // event; TB_TIME_NEVER: none soon
	uint64_t n_events;
	bool lasts;
};

struct tb_windows {
	const struct tb_switching *model;
	struct tb_replay *whole;
	uint32_t n;
	uint32_t first, end;	  // parts that this process simulates
	struct tb_across *across; // NULL: all of them
	tb_time_ps others_next;	  // the earliest of what other processes have next
	struct part_result *parts;
	struct tb_team *team;
	tb_time_ps until;	// end of the window, or of the bin to be settled
	tb_time_ps received_at; // the earliest message that is to be received
	bool open_loop;		// what is posted is taken ahead
	uint64_t n_events;	// of the last window
	uint64_t n_windows;
	struct tb_ending *endings;
	size_t n_endings, endings_room;
};

static struct tb_replay *part_at(const struct tb_windows *windows, uint32_t part)
{
	return windows->whole->side->by_part[part];
}

static unsigned windows_count_threads(unsigned wanted, uint32_t n_parts)
{
	unsigned n = wanted ? wanted : 1;
	return n < n_parts ? n : n_parts;
}

static int windows_make_parts(struct tb_windows *windows)
{
	int status = TB_OK;
	for (uint32_t part = 0; part < windows->n && status == TB_OK; part++) {
		struct tb_replay *made = NULL;
		if (tb_parts_has(windows->whole->side->parts, part))
			status = windows->model->join(&made, windows->whole, part);
		else
			status = tb_replay_join_elsewhere(&made, windows->whole, part);
		windows->whole->side->by_part[part] = made;
		if (status == TB_OK)
			status = tb_handover_new(made);
	}
	return status;
}

int tb_windows_new(struct tb_windows **windows, struct tb_replay *whole,
	const struct tb_switching *model, unsigned n_threads,
	struct tb_peer_streams *peers)
{
	struct tb_windows *made = calloc(1, sizeof *made);
	if (!made)
		return TB_ENOMEM;
	*made = (struct tb_windows){.model = model,
		.whole = whole,
		.n = whole->side->parts->n,
		.first = whole->side->parts->own_first,
		.end = whole->side->parts->own_end,
		.others_next = TB_TIME_NEVER,
		.received_at = TB_TIME_NEVER,
		.open_loop = tb_source_is_open_loop(whole->source)};
	made->parts = aligned_alloc(64, made->n * sizeof *made->parts);
	int status = made->parts ? TB_OK : TB_ENOMEM;
	if (status == TB_OK && peers)
		status = tb_across_new(&made->across, whole, model, peers);
	if (status == TB_OK)
		status = windows_make_parts(made);
	if (status == TB_OK)
		status = tb_team_new(&made->team,
			windows_count_threads(n_threads, made->end - made->first));
	if (status != TB_OK) {
		tb_windows_free(made);
		return status;
	}
	tb_joint_records_set_team(whole->side->records, made->team);
	for (uint32_t part = 0; part < made->n; part++)
		made->parts[part] = (struct part_result){.next = TB_TIME_NEVER};
	*windows = made;
	return TB_OK;
}

void tb_windows_free(struct tb_windows *windows)
{
	if (!windows)
		return;
	tb_joint_records_set_team(windows->whole->side->records, NULL);
	tb_team_free(windows->team);
	for (uint32_t part = 0; part < windows->n; part++) {
		struct tb_replay *replay = part_at(windows, part);
		if (!replay)
			continue;
		tb_handover_free(replay);
		if (replay->side->elsewhere)
			tb_replay_free_elsewhere(replay);
		else
			windows->model->free(replay);
		windows->whole->side->by_part[part] = NULL;
	}
	tb_across_free(windows->across);
	free(windows->parts);
	free(windows->endings);
	free(windows);
}

// windows_simulate is the task of one part in a window. One more task can enter some
// waits of earlier windows into the blame, which nothing else touches meanwhile.
static void windows_simulate(void *context, uint32_t index)
{
	struct tb_windows *windows = context;
	index += windows->first;
	if (index == windows->end) {
		tb_joint_records_catch_up(windows->whole->side->records);
		return;
	}
	struct tb_replay *replay = part_at(windows, index);
	struct part_result *part = &windows->parts[index];
	uint64_t n_before = replay->stats.n_events;
	tb_handover_receive(replay, windows->model->receive);
	windows->model->window(replay, windows->until);
	part->next = tb_wheel_next(&replay->wheel, TB_WHEEL_ROWS,
		windows->until + windows->whole->side->window_ps);
	if (replay->handover_at < part->next)
		part->next = replay->handover_at;
	part->n_events = replay->stats.n_events - n_before;
}

// windows_fill is what threads do that wait for others in a window without such a task.
static bool windows_fill(void *context)
{
	const struct tb_windows *windows = context;
	return tb_joint_records_step(windows->whole->side->records, NULL);
}

static void windows_settle(void *context, uint32_t index)
{
	struct tb_windows *windows = context;
	index += windows->first;
	windows->parts[index].lasts =
		windows->model->settle(part_at(windows, index), windows->until);
}

static void windows_settle_all(struct tb_windows *windows)
{
	tb_team_run(
		windows->team, windows->end - windows->first, windows_settle, windows);
}

// pays estimates whether a window has enough work for several threads, from the events of
// the window before and the messages that start.
static bool pays(const struct tb_windows *windows)
{
	uint64_t n = windows->n_events;
	for (uint32_t part = windows->first; part < windows->end; part++) {
		const struct tb_replay *replay = part_at(windows, part);
		n += replay->starting[0].n + replay->starting[1].n;
	}
	return n >= FEW_EVENTS;
}

// next_instant returns when something happens next: an event, a part message, or a
// message of the source that is posted or starts. What parts report as next covers only
// one window beyond the present one.
static tb_time_ps next_instant(const struct tb_windows *windows)
{
	tb_time_ps next =
		tb_time_earlier(windows->received_at, windows->whole->source_at);
	next = tb_time_earlier(next, windows->others_next);
	for (uint32_t part = 0; part < windows->n; part++) {
		next = tb_time_earlier(next, windows->parts[part].next);
		next = tb_time_earlier(next, part_at(windows, part)->outside_at);
	}
	if (next <= windows->until + windows->whole->side->window_ps)
		return next;
	for (uint32_t part = windows->first; part < windows->end; part++)
		next = tb_time_earlier(next, tb_wheel_next(&part_at(windows, part)->wheel,
						     TB_WHEEL_ROWS, next));
	return windows->across ? tb_across_least(windows->across, next) : next;
}

// pass_bins closes the bins that end at or before `next`, as tb_clock_pass_bins does.
static int pass_bins(struct tb_windows *windows, tb_time_ps next, struct tb_error *error)
{
	struct tb_joint_records *joint = windows->whole->side->records;
	const struct tb_records *records = &windows->whole->records;
	while (next >= records->bin_end) {
		bool lasts = false;
		windows->until = records->bin_end;
		windows_settle_all(windows);
		for (uint32_t part = windows->first; part < windows->end; part++)
			lasts |= windows->parts[part].lasts;
		int status = tb_joint_records_close(joint, error);
		if (status != TB_OK)
			return status;
		if (!lasts && next >= records->bin_end && tb_joint_records_idle(joint))
			tb_joint_records_jump(joint, next);
	}
	return TB_OK;
}

// windows_post takes the messages that the source posts at an instant.
static void windows_post(struct tb_windows *windows, tb_time_ps at)
{
	windows->whole->now = at;
	tb_parts_post(windows->whole);
}

static void post_early(struct tb_windows *windows)
{
	const struct tb_replay *whole = windows->whole;
	while (windows->open_loop && whole->source_at < windows->until &&
		whole->failure.code == TB_OK)
		windows_post(windows, whole->source_at);
}

static int by_round_and_message(const void *left, const void *right)
{
	const struct tb_ending *a = left, *b = right;
	if (a->at != b->at)
		return a->at < b->at ? -1 : 1;
	if (a->round != b->round)
		return a->round < b->round ? -1 : 1;
	if (a->serial != b->serial)
		return a->serial < b->serial ? -1 : 1;
	return (a->kind > b->kind) - (a->kind < b->kind);
}

// gather_endings sorts the endings of all parts into the order in which one part would
// have reported them: by time, round of an instant, and message. What happens in a round
// follows from the one before it in the same part, so parts number rounds alike; without
// in_rounds all belong to the first one.
static void gather_endings(struct tb_windows *windows)
{
	windows->n_endings = 0;
	for (uint32_t part = 0; part < windows->n; part++) {
		struct tb_replay *replay = part_at(windows, part);
		size_t n = windows->n_endings + replay->n_endings;
		if (TB_ARRAY_RESERVE(&windows->endings, &windows->endings_room, n) !=
			TB_OK) {
			tb_replay_no_memory(windows->whole, "the ended messages");
			return;
		}
		for (uint32_t i = 0; i < replay->n_endings; i++)
			windows->endings[windows->n_endings++] = replay->endings[i];
		replay->n_endings = 0;
	}
	if (windows->n_endings > 1)
		qsort(windows->endings, windows->n_endings, sizeof *windows->endings,
			by_round_and_message);
}

// report_round reports the endings of one round to the source, from number `i` on, and
// returns the number of the first of another round.
static size_t report_round(struct tb_windows *windows, size_t i)
{
	struct tb_replay *whole = windows->whole;
	const struct tb_ending first = windows->endings[i];
	whole->now = first.at;
	for (; i < windows->n_endings && windows->endings[i].at == first.at &&
		windows->endings[i].round == first.round;
		i++)
		tb_messages_add_ending(
			whole, windows->endings[i].message, windows->endings[i].kind);
	tb_messages_report(whole);
	return i;
}

// windows_report reports to the source what ended in the window, and posts what the
// source then has before the window's end.
static void windows_report(struct tb_windows *windows)
{
	const struct tb_replay *whole = windows->whole;
	gather_endings(windows);
	for (size_t i = 0; whole->failure.code == TB_OK;) {
		bool ended = i < windows->n_endings;
		tb_time_ps at = ended ? windows->endings[i].at : windows->until - 1;
		if (!windows->open_loop && whole->source_at <= at)
			windows_post(windows, whole->source_at > whole->now
						      ? whole->source_at
						      : whole->now);
		else if (ended)
			i = report_round(windows, i);
		else
			return;
	}
}

// windows_failed returns the status of the first failure, in the order of parts.
static int windows_failed(struct tb_windows *windows, struct tb_error *error)
{
	struct tb_replay *whole = windows->whole;
	for (uint32_t part = 0; part < windows->n && whole->failure.code == TB_OK; part++)
		if (part_at(windows, part)->failure.code != TB_OK)
			whole->failure = part_at(windows, part)->failure;
	(void)tb_clock_failed(whole);
	if (whole->failure.code != TB_OK && error)
		*error = whole->failure;
	return whole->failure.code;
}

static int do_window(struct tb_windows *windows, tb_time_ps from, struct tb_error *error)
{
	const struct tb_replay *whole = windows->whole;
	int status = pass_bins(windows, from, error);
	if (status != TB_OK)
		return status;
	windows->until =
		tb_time_earlier(from + whole->side->window_ps, whole->records.bin_end);
	windows->until = tb_time_earlier(windows->until, whole->pause_at);
	windows->n_windows++;
	post_early(windows);
	// Simulate the window, on all threads if that pays.
	uint32_t n = windows->end - windows->first;
	bool late = !tb_joint_records_turn(
		whole->side->records, MANY_WAITS / tb_team_threads(windows->team));
	bool together = pays(windows);
	n += late;
	if (together)
		tb_team_run_filled(windows->team, n, windows_simulate,
			late ? NULL : windows_fill, windows);
	for (uint32_t i = 0; i < n && !together; i++)
		windows_simulate(windows, i);
	// Make the part messages of this window those that the next window
	// receives.
	windows->received_at = TB_TIME_NEVER;
	windows->n_events = 0;
	if (windows->across) {
		// Exchange with other processes what each needs of this window.
		// Messages that start in it have started in their parts.
		tb_time_ps next = TB_TIME_NEVER;
		for (uint32_t part = windows->first; part < windows->end; part++) {
			(void)tb_clock_failed(part_at(windows, part));
			next = tb_time_earlier(next, windows->parts[part].next);
			next = tb_time_earlier(
				next, tb_handover_earliest(part_at(windows, part)));
		}
		for (uint32_t part = 0; part < windows->n; part++)
			if (!tb_parts_has(windows->whole->side->parts, part))
				tb_messages_skip(part_at(windows, part), windows->until);
		tb_across_exchange(windows->across, windows->until, &next);
		windows->others_next = next;
	}
	for (uint32_t part = 0; part < windows->n; part++) {
		struct tb_replay *replay = part_at(windows, part);
		windows->received_at = tb_time_earlier(
			windows->received_at, tb_handover_earliest(replay));
		tb_handover_turn(replay);
		windows->n_events += windows->parts[part].n_events;
	}
	windows_report(windows);
	return windows_failed(windows, error);
}

int tb_windows_run(struct tb_windows *windows, uint64_t n_windows, struct tb_error *error)
{
	for (uint64_t i = 0; i < n_windows; i++) {
		tb_time_ps from = next_instant(windows);
		if (from == TB_TIME_NEVER)
			return tb_clock_end(windows->whole, error);
		if (from >= windows->whole->pause_at) {
			// `until` is restored: parts have searched for events up to
			// there.
			tb_time_ps at = windows->whole->pause_at, until = windows->until;
			for (uint32_t part = 0; part < windows->n; part++)
				part_at(windows, part)->now = at;
			int status = pass_bins(windows, at, error);
			windows->until = until;
			return status == TB_OK ? TB_ENGINE_PAUSED : status;
		}
		int status = do_window(windows, from, error);
		if (status != TB_OK)
			return status;
	}
	return 1;
}

// windows_lasts_until receives the last part messages, and returns when everything ends
// that has begun.
static tb_time_ps windows_lasts_until(struct tb_windows *windows)
{
	tb_time_ps end = 0;
	for (uint32_t part = windows->first; part < windows->end; part++) {
		tb_handover_receive(part_at(windows, part), windows->model->receive);
		tb_time_ps lasts = windows->model->lasts_until(part_at(windows, part));
		end = lasts > end ? lasts : end;
	}
	return windows->across ? tb_across_most(windows->across, end) : end;
}

int tb_windows_finish(struct tb_windows *windows, struct tb_error *error)
{
	bool was_well = windows_failed(windows, NULL) == TB_OK; // as in tb_clock_finish
	struct tb_joint_records *records = windows->whole->side->records;
	tb_time_ps end = windows_lasts_until(windows);
	int status = pass_bins(windows, end, error);
	if (status != TB_OK)
		return status;
	windows->until = end;
	windows_settle_all(windows);
	for (uint32_t part = windows->first; part < windows->end; part++)
		windows->model->blame_open(part_at(windows, part), end);
	if (was_well)
		status = windows_failed(windows, error);
	if (status == TB_OK)
		status = tb_joint_records_close(records, error);
	if (windows->model->leave)
		windows->model->leave(windows->whole);
	if (status == TB_OK && windows->across)
		status = tb_across_gather(windows->across, error);
	bool leads = !windows->across || tb_across_leads(windows->across);
	return status == TB_OK && leads ? tb_joint_records_finish(records, error)
					: status;
}

int tb_windows_checkpoint(struct tb_windows *windows, struct tb_error *error)
{
	return windows->across ? tb_across_show(windows->across, error)
			       : tb_records_report_bins(&windows->whole->records, error);
}

tb_time_ps tb_windows_now(const struct tb_windows *windows)
{
	tb_time_ps now = 0;
	for (uint32_t part = 0; part < windows->n; part++)
		if (part_at(windows, part)->now > now)
			now = part_at(windows, part)->now;
	return now;
}

struct tb_engine_stats tb_windows_stats(const struct tb_windows *windows)
{
	struct tb_engine_stats sum = windows->whole->stats;
	sum.n_in_flight = 0;
	for (uint32_t part = 0; part < windows->n; part++) {
		const struct tb_replay *replay = part_at(windows, part);
		sum.n_events += replay->stats.n_events;
		sum.n_packets += replay->stats.n_packets;
		sum.n_hops += replay->stats.n_hops;
		sum.payload_bytes += replay->stats.payload_bytes;
		sum.n_in_flight += tb_replay_in_flight(replay);
		sum.n_lost += replay->stats.n_lost;
		sum.n_resent += replay->stats.n_resent;
	}
	return sum;
}

struct tb_engine_exchange tb_windows_exchange(const struct tb_windows *windows)
{
	struct tb_engine_exchange sum = {.n_windows = windows->n_windows};
	for (uint32_t part = 0; part < windows->n; part++)
		sum.bytes += part_at(windows, part)->side->exchanged_bytes;
	if (windows->across)
		tb_across_count(windows->across, &sum);
	return sum;
}

struct outbox { // messages to one part, each followed by its record
	char *bytes;
	size_t n, room;
};

// Part messages are put into one of two rows of outboxes, by part, while those of the
// other row are received.
struct tb_handover {
	struct outbox *rows[2];
	unsigned turn; // the row that is filled
	tb_time_ps earliest;
};

int tb_handover_new(struct tb_replay *replay)
{
	uint32_t n = replay->side->parts->n;
	struct tb_handover *made = calloc(1, sizeof *made);
	if (!made)
		return TB_ENOMEM;
	replay->side->handover = made;
	made->earliest = TB_TIME_NEVER;
	made->rows[0] = calloc(n, sizeof *made->rows[0]);
	made->rows[1] = calloc(n, sizeof *made->rows[1]);
	return made->rows[0] && made->rows[1] ? TB_OK : TB_ENOMEM;
}

void tb_handover_free(struct tb_replay *replay)
{
	struct tb_handover *handover = replay->side->handover;
	if (!handover)
		return;
	for (uint32_t part = 0; part < replay->side->parts->n; part++)
		for (unsigned row = 0; row < 2; row++)
			if (handover->rows[row])
				free(handover->rows[row][part].bytes);
	free(handover->rows[0]);
	free(handover->rows[1]);
	free(handover);
	replay->side->handover = NULL;
}

// handover_add_message adds a part message, with its record unless that is NULL, and
// returns the place of that.
static inline char *handover_add_message(struct tb_replay *replay, uint32_t to,
	const struct tb_part_message *message, const void *record)
{
	struct tb_handover *handover = replay->side->handover;
	struct outbox *box = &handover->rows[handover->turn][to];
	size_t n = sizeof *message + message->n_bytes;
	if (TB_ARRAY_RESERVE(&box->bytes, &box->room, box->n + n) != TB_OK) {
		tb_replay_no_memory(replay, "what leaves a part");
		return NULL;
	}
	char *place = box->bytes + box->n;
	memcpy(place, message, sizeof *message);
	if (record)
		memcpy(place + sizeof *message, record, message->n_bytes);
	box->n += n;
	if (message->at < handover->earliest)
		handover->earliest = message->at;
	return place + sizeof *message;
}

void tb_handover_to_receiver(struct tb_replay *replay,
	const struct tb_part_message *message, const void *record)
{
	(void)handover_add_message(replay,
		tb_parts_to(replay->side->parts, replay->net, message->link), message,
		record);
}

void tb_handover_to_sender(
	struct tb_replay *replay, const struct tb_part_message *message)
{
	(void)handover_add_message(replay,
		tb_parts_from(replay->side->parts, replay->net, message->link), message,
		NULL);
}

void *tb_handover_to_part(
	struct tb_replay *replay, uint32_t part, const struct tb_part_message *message)
{
	return handover_add_message(replay, part, message, NULL);
}

void tb_handover_turn(struct tb_replay *replay)
{
	struct tb_handover *handover = replay->side->handover;
	handover->turn ^= 1;
	handover->earliest = TB_TIME_NEVER;
	for (uint32_t part = 0; part < replay->side->parts->n; part++)
		handover->rows[handover->turn][part].n = 0;
}

tb_time_ps tb_handover_earliest(const struct tb_replay *replay)
{
	return replay->side->handover->earliest;
}

const struct tb_part_message *tb_handover_next(
	const char *bytes, size_t *at, const void **record)
{
	const struct tb_part_message *message = (const void *)(bytes + *at);
	*at += sizeof *message;
	*record = message->n_bytes ? bytes + *at : NULL;
	*at += message->n_bytes;
	return message;
}

const char *tb_handover_bytes(const struct tb_replay *replay, uint32_t to, size_t *n)
{
	const struct outbox *box =
		&replay->side->handover->rows[replay->side->handover->turn][to];
	*n = box->n;
	return box->bytes;
}

void tb_handover_put(struct tb_replay *replay, uint32_t to,
	const struct tb_part_message *message, const void *record)
{
	handover_add_message(replay, to, message, record);
}

void tb_handover_receive(struct tb_replay *replay,
	void (*receive)(struct tb_replay *replay, const struct tb_part_message *message,
		const void *record))
{
	for (uint32_t from = 0; from < replay->side->parts->n; from++) {
		const struct tb_handover *handover =
			replay->side->by_part[from]->side->handover;
		const struct outbox *box =
			&handover->rows[handover->turn ^ 1][replay->side->part];
		for (size_t at = 0; at < box->n;) {
			const void *record;
			const struct tb_part_message *message =
				tb_handover_next(box->bytes, &at, &record);
			receive(replay, message, record);
		}
	}
}
