#include "tape.h"

#include "array.h"
#include "blame_table.h"
#include "replay_records.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct bin {
	uint64_t number;
	size_t first, n; // into the samples
};

// An array that grows by doubling.
struct array {
	void *items;
	size_t n, room;
};

struct tb_tape {
	tb_time_ps bin_ps;
	struct tb_kept_bins kept; // or those that came one by one:
	struct array bins, samples, flows, undelivered, messages, lossy_ports,
		lossy_flows, timeouts;
	bool has_blame;
	struct tb_blame_record blame;
};

int tb_tape_new(struct tb_tape **tape, struct tb_error *error)
{
	struct tb_tape *made = calloc(1, sizeof *made);
	if (!made)
		return tb_fail_memory(error, "what is recorded");
	*tape = made;
	return TB_OK;
}

void tb_tape_free(struct tb_tape *tape)
{
	if (!tape)
		return;
	tb_kept_bins_fini(&tape->kept);
	free(tape->bins.items);
	free(tape->samples.items);
	free(tape->flows.items);
	tb_blame_record_free(&tape->blame);
	free(tape->undelivered.items);
	free(tape->messages.items);
	free(tape->lossy_ports.items);
	free(tape->lossy_flows.items);
	free(tape->timeouts.items);
	free(tape);
}

static int tape_append(struct array *array, const void *items, size_t n, size_t size)
{
	if (n == 0)
		return TB_OK;
	if (array->n + n > array->room &&
		tb_array_grow(&array->items, &array->room, array->n + n, size) != TB_OK)
		return TB_ENOMEM;
	memcpy((char *)array->items + array->n * size, items, n * size);
	array->n += n;
	return TB_OK;
}

static int tape_on_start(void *context, tb_time_ps bin_ps)
{
	struct tb_tape *tape = context;
	tape->bin_ps = bin_ps;
	tape->bins.n = tape->samples.n = 0;
	tb_kept_bins_fini(&tape->kept);
	return TB_OK;
}

static int tape_on_kept(void *context, struct tb_kept_bins *kept)
{
	struct tb_tape *tape = context;
	tape->kept = *kept;
	*kept = (struct tb_kept_bins){0};
	return TB_OK;
}

static int tape_on_bin(
	void *context, uint64_t number, const struct tb_link_sample *samples, size_t n)
{
	struct tb_tape *tape = context;
	const struct bin bin = {number, tape->samples.n, n};
	int status = tape_append(&tape->samples, samples, n, sizeof *samples);
	return status == TB_OK ? tape_append(&tape->bins, &bin, 1, sizeof bin) : status;
}

static int tape_on_flows(void *context, const struct tb_flow_sample *samples, size_t n)
{
	struct tb_tape *tape = context;
	return tape_append(&tape->flows, samples, n, sizeof *samples);
}

static int tape_on_blame(void *context, const struct tb_blame_record *record)
{
	struct tb_tape *tape = context;
	int status = tb_blame_record_copy(&tape->blame, record);
	tape->has_blame = status == TB_OK;
	return status;
}

static int tape_on_undelivered(
	void *context, const struct tb_undelivered_sample *samples, size_t n)
{
	struct tb_tape *tape = context;
	return tape_append(&tape->undelivered, samples, n, sizeof *samples);
}

static int tape_on_messages(
	void *context, const struct tb_message_sample *samples, size_t n)
{
	struct tb_tape *tape = context;
	return tape_append(&tape->messages, samples, n, sizeof *samples);
}

static int tape_on_losses(void *context, const struct tb_loss_record *record)
{
	struct tb_tape *tape = context;
	int status = tape_append(&tape->lossy_ports, record->ports, record->n_ports,
		sizeof *record->ports);
	if (status == TB_OK)
		status = tape_append(&tape->lossy_flows, record->flows, record->n_flows,
			sizeof *record->flows);
	return status == TB_OK ? tape_append(&tape->timeouts, record->timeouts,
					 record->n_timeouts, sizeof *record->timeouts)
			       : status;
}

struct tb_observer tb_tape_observer(struct tb_tape *tape)
{
	return (struct tb_observer){.context = tape,
		.start = tape_on_start,
		.bin = tape_on_bin,
		.kept = tape_on_kept,
		.flows = tape_on_flows,
		.blame = tape_on_blame,
		.undelivered = tape_on_undelivered,
		.messages = tape_on_messages,
		.losses = tape_on_losses};
}

static int play_kept(struct tb_kept_bins kept, const struct tb_observer *observer)
{
	struct tb_link_sample *samples =
		malloc((kept.seen_room + 1) * 64 * sizeof *samples);
	int status = samples ? TB_OK : TB_ENOMEM;
	for (size_t at = 0; at < kept.n_bytes && status == TB_OK;) {
		uint32_t bin = 0, n = 0;
		at = tb_kept_bins_read(&kept, at, &bin, samples, &n);
		status = n ? observer->bin(observer->context, bin, samples, n) : TB_OK;
	}
	free(samples);
	return status;
}

static int play_bins(const struct tb_tape *tape, const struct tb_observer *observer)
{
	const struct bin *bins = tape->bins.items;
	const struct tb_link_sample *samples = tape->samples.items;
	int status = observer->start(observer->context, tape->bin_ps);
	for (size_t i = 0; i < tape->bins.n && status == TB_OK; i++)
		status = observer->bin(observer->context, bins[i].number,
			bins[i].n ? samples + bins[i].first : NULL, bins[i].n);
	return status == TB_OK ? play_kept(tape->kept, observer) : status;
}

int tb_tape_play(const struct tb_tape *tape, const struct tb_observer *observer)
{
	int status = tape->bin_ps ? play_bins(tape, observer) : TB_OK;
	if (status == TB_OK)
		status = observer->flows(
			observer->context, tape->flows.items, tape->flows.n);
	if (status == TB_OK && tape->has_blame && observer->blame)
		status = observer->blame(observer->context, &tape->blame);
	if (status == TB_OK && tape->undelivered.n && observer->undelivered)
		status = observer->undelivered(
			observer->context, tape->undelivered.items, tape->undelivered.n);
	if (status == TB_OK) {
		const struct tb_loss_record record = {tape->lossy_ports.items,
			tape->lossy_flows.items, tape->timeouts.items,
			tape->lossy_ports.n, tape->lossy_flows.n, tape->timeouts.n};
		status = record.n_flows && observer->losses
				 ? observer->losses(observer->context, &record)
				 : TB_OK;
	}
	if (status == TB_OK && observer->messages)
		status = observer->messages(
			observer->context, tape->messages.items, tape->messages.n);
	return status;
}
