// How a port's counters went on: full, wrapped, reset.
#include "measured_impl.h"

// end_of_counter is where a counter stops; 0: it is not known to.
static uint64_t end_of_counter(const struct tb_counter_port *before,
	const struct tb_counter_port *after, int counter)
{
	uint64_t end = after->ends[counter];
	return before && before->ends[counter] > end ? before->ends[counter] : end;
}

// may_wrap is whether a counter that went down may have gone through its end, as some
// devices' do: one of 32 bits of traffic, that was in the upper half.
static bool may_wrap(int counter, uint64_t before, uint64_t end)
{
	return tb_counter_infos[counter].class == TB_COUNTS_TRAFFIC && before < end &&
	       before > end / 2 && end <= 4 * UINT64_C(0xffffffff);
}

// was_reset: a counter went down that cannot have wrapped. Ports are reset as a whole.
static bool was_reset(
	const struct tb_counter_port *before, const struct tb_counter_port *after)
{
	for (int i = 0; i < TB_N_COUNTERS; i++)
		if ((before->known & after->known) >> i & 1 &&
			after->values[i] < before->values[i] &&
			!may_wrap(i, before->values[i], end_of_counter(before, after, i)))
			return true;
	return false;
}

static void change_counter(
	struct port_change *change, int i, uint64_t before, uint64_t after, uint64_t end)
{
	uint32_t bit = UINT32_C(1) << i;
	change->known |= bit;
	if (end && after >= end)
		change->full |= bit;
	if (end && after >= end && before >= end) {
		change->unknown |= bit;
		change->known &= ~bit;
	} else if (after >= before) {
		change->deltas[i] = after - before;
	} else {
		change->wrapped |= bit;
		// Words are counted, of 4 bytes each.
		change->deltas[i] =
			after + (end - before) + (end > UINT64_C(0xffffffff) ? 4 : 1);
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
				after->values[i], end_of_counter(before, after, i));
	change->at_least = change->is_reset
				   ? change->known
				   : (change->full | change->wrapped) & change->known;
}
