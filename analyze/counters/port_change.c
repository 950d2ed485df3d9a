// How a port's counters went on: wrapped, full, reset.
#include "measured_impl.h"

// What a counter of 32 bits stands at when it is full: words of InfiniBand are 4 bytes.
static uint64_t full_of(int counter)
{
	bool of_words =
		counter == TB_COUNTER_SENT_BYTES || counter == TB_COUNTER_RECEIVED_BYTES;
	return of_words ? 4 * TB_COUNTER_FULL : TB_COUNTER_FULL;
}

// may_wrap is whether a counter that went down may have gone through 2^32: it was in the
// upper half, and one of 32 bits.
static bool may_wrap(int counter, uint64_t before)
{
	uint64_t full = full_of(counter);
	return tb_counter_infos[counter].class == TB_COUNTS_TRAFFIC && before < full &&
	       before > full / 2;
}

// was_reset: a counter went down that cannot have wrapped. Ports are reset as a whole.
static bool was_reset(
	const struct tb_counter_port *before, const struct tb_counter_port *after)
{
	for (int i = 0; i < TB_N_COUNTERS; i++)
		if ((before->known & after->known) >> i & 1 &&
			after->values[i] < before->values[i] &&
			!may_wrap(i, before->values[i]))
			return true;
	return false;
}

static void change_counter(
	struct port_change *change, int i, uint64_t before, uint64_t after)
{
	uint32_t bit = UINT32_C(1) << i;
	uint64_t full = full_of(i);
	bool counts = tb_counter_infos[i].class == TB_COUNTS_TRAFFIC;
	change->known |= bit;
	if (counts && after == full)
		change->full |= bit;
	if (counts && after == full && before == full) {
		change->unknown |= bit;
		change->known &= ~bit;
	} else if (after >= before) {
		change->deltas[i] = after - before;
	} else {
		change->wrapped |= bit;
		change->deltas[i] = after + (full - before) + full / TB_COUNTER_FULL;
	}
}

void port_change_find(struct port_change *change, const struct tb_counter_port *before,
	const struct tb_counter_port *after)
{
	*change = (struct port_change){.is_reset = before && was_reset(before, after)};
	uint32_t known = after->known & (before ? before->known : after->known);
	for (int i = 0; i < TB_N_COUNTERS; i++)
		if (known >> i & 1)
			change_counter(change, i,
				before && !change->is_reset ? before->values[i] : 0,
				after->values[i]);
}
