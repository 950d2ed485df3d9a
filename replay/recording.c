#include "recording.h"

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

struct tb_recording {
	tb_time_ps bin_ps;
	tb_time_ps tree_bin_ps;
	struct array bins, samples, flows, blame, undelivered, trees;
};

int tb_recording_new(struct tb_recording **recording, struct tb_error *error)
{
	struct tb_recording *made = calloc(1, sizeof *made);
	if (!made)
		return tb_fail(error, TB_ENOMEM, "no memory for what is told");
	*recording = made;
	return TB_OK;
}

void tb_recording_free(struct tb_recording *recording)
{
	if (!recording)
		return;
	free(recording->bins.items);
	free(recording->samples.items);
	free(recording->flows.items);
	free(recording->blame.items);
	free(recording->undelivered.items);
	free(recording->trees.items);
	free(recording);
}

static int append(struct array *array, const void *items, size_t n, size_t size)
{
	if (n == 0)
		return TB_OK;
	if (array->n + n > array->room) {
		size_t room =
			array->room * 2 > array->n + n ? array->room * 2 : array->n + n;
		void *moved = realloc(array->items, room * size);
		if (!moved)
			return TB_ENOMEM;
		array->items = moved;
		array->room = room;
	}
	memcpy((char *)array->items + array->n * size, items, n * size);
	array->n += n;
	return TB_OK;
}

static int on_start(void *context, tb_time_ps bin_ps)
{
	struct tb_recording *recording = context;
	recording->bin_ps = bin_ps;
	recording->bins.n = recording->samples.n = 0;
	return TB_OK;
}

static int on_bin(
	void *context, uint64_t number, const struct tb_link_sample *samples, size_t n)
{
	struct tb_recording *recording = context;
	const struct bin bin = {number, recording->samples.n, n};
	int status = append(&recording->samples, samples, n, sizeof *samples);
	return status == TB_OK ? append(&recording->bins, &bin, 1, sizeof bin) : status;
}

static int on_flows(void *context, const struct tb_flow_sample *samples, size_t n)
{
	struct tb_recording *recording = context;
	return append(&recording->flows, samples, n, sizeof *samples);
}

static int on_blame(void *context, const struct tb_blame_sample *samples, size_t n)
{
	struct tb_recording *recording = context;
	return append(&recording->blame, samples, n, sizeof *samples);
}

static int on_undelivered(
	void *context, const struct tb_undelivered_sample *samples, size_t n)
{
	struct tb_recording *recording = context;
	return append(&recording->undelivered, samples, n, sizeof *samples);
}

static int on_trees(
	void *context, tb_time_ps bin_ps, const struct tb_tree_sample *samples, size_t n)
{
	struct tb_recording *recording = context;
	recording->tree_bin_ps = bin_ps;
	return append(&recording->trees, samples, n, sizeof *samples);
}

struct tb_observer tb_recording_observer(struct tb_recording *recording)
{
	return (struct tb_observer){.context = recording,
		.start = on_start,
		.bin = on_bin,
		.flows = on_flows,
		.blame = on_blame,
		.undelivered = on_undelivered,
		.trees = on_trees};
}

static int play_bins(
	const struct tb_recording *recording, const struct tb_observer *observer)
{
	const struct bin *bins = recording->bins.items;
	const struct tb_link_sample *samples = recording->samples.items;
	int status = observer->start(observer->context, recording->bin_ps);
	for (size_t i = 0; i < recording->bins.n && status == TB_OK; i++)
		status = observer->bin(observer->context, bins[i].number,
			bins[i].n ? samples + bins[i].first : NULL, bins[i].n);
	return status;
}

int tb_recording_play(
	const struct tb_recording *recording, const struct tb_observer *observer)
{
	int status = recording->bin_ps ? play_bins(recording, observer) : TB_OK;
	if (status == TB_OK)
		status = observer->flows(
			observer->context, recording->flows.items, recording->flows.n);
	if (status == TB_OK)
		status = observer->blame(
			observer->context, recording->blame.items, recording->blame.n);
	if (status == TB_OK && recording->undelivered.n && observer->undelivered)
		status = observer->undelivered(observer->context,
			recording->undelivered.items, recording->undelivered.n);
	if (status == TB_OK && recording->tree_bin_ps && observer->trees)
		status = observer->trees(observer->context, recording->tree_bin_ps,
			recording->trees.items, recording->trees.n);
	return status;
}
