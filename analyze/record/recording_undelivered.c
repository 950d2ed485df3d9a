// Wraps the store's observer and keeps the undelivered flows for the summary.
#include "recording_impl.h"

#include <stdlib.h>
#include <string.h>

static int forward_start(void *context, tb_time_ps bin_ps)
{
	const struct tb_observer *of_store = &((struct tb_recording *)context)->of_store;
	return of_store->start(of_store->context, bin_ps);
}

static int forward_bin(
	void *context, uint64_t bin, const struct tb_link_sample *samples, size_t n)
{
	const struct tb_observer *of_store = &((struct tb_recording *)context)->of_store;
	return of_store->bin(of_store->context, bin, samples, n);
}

static int forward_flows(void *context, const struct tb_flow_sample *samples, size_t n)
{
	const struct tb_observer *of_store = &((struct tb_recording *)context)->of_store;
	return of_store->flows(of_store->context, samples, n);
}

static int forward_blame(void *context, const struct tb_blame_record *record)
{
	const struct tb_observer *of_store = &((struct tb_recording *)context)->of_store;
	return of_store->blame(of_store->context, record);
}

static int forward_messages(
	void *context, const struct tb_message_sample *samples, size_t n)
{
	const struct tb_observer *of_store = &((struct tb_recording *)context)->of_store;
	return of_store->messages(of_store->context, samples, n);
}

static int forward_losses(void *context, const struct tb_loss_record *record)
{
	const struct tb_observer *of_store = &((struct tb_recording *)context)->of_store;
	return of_store->losses(of_store->context, record);
}

static int keep_undelivered(
	void *context, const struct tb_undelivered_sample *samples, size_t n)
{
	struct tb_recording *recording = context;
	recording->undelivered = malloc((n + 1) * sizeof *samples);
	if (!recording->undelivered)
		return TB_ENOMEM;
	memcpy(recording->undelivered, samples, n * sizeof *samples);
	recording->n_undelivered = n;
	return recording->of_store.undelivered(recording->of_store.context, samples, n);
}

struct tb_observer tb_recording_observer(struct tb_recording *recording)
{
	recording->of_store = tb_store_observer(recording->store);
	return (struct tb_observer){.context = recording,
		.start = forward_start,
		.bin = forward_bin,
		.flows = forward_flows,
		.blame = forward_blame,
		.undelivered = keep_undelivered,
		.messages = forward_messages,
		.losses = forward_losses};
}
