// How a vector is cut into blocks.
#include "expansion_impl.h"

#include <stdlib.h>

// room_for gives a plan `n` blocks whose ends are to be filled in.
static bool room_for(struct tb_plan *plan, uint64_t n)
{
	free(plan->block_ends);
	plan->block_ends = malloc((n + 1) * sizeof *plan->block_ends);
	if (!plan->block_ends)
		plan->status = TB_ENOMEM;
	else
		plan->n_blocks = n;
	return plan->block_ends != NULL;
}

uint64_t tb_element_bytes(uint64_t bytes)
{
	return bytes % 8 == 0 ? 8 : bytes % 4 == 0 ? 4 : 1;
}

void tb_cut_segments(struct tb_plan *plan, uint64_t segment_bytes)
{
	uint64_t bytes = plan->unit_bytes;
	if (segment_bytes == 0 || segment_bytes >= bytes)
		return;
	uint64_t n = bytes / segment_bytes + (bytes % segment_bytes != 0);
	if (!room_for(plan, n))
		return;
	for (uint64_t i = 0; i < n; i++)
		plan->block_ends[i] = i + 1 < n ? (i + 1) * segment_bytes : bytes;
}

void tb_cut_even(struct tb_plan *plan, uint32_t n, uint64_t element_bytes)
{
	uint64_t elements = plan->unit_bytes / element_bytes, end = 0;
	if (!room_for(plan, n))
		return;
	for (uint32_t i = 0; i < n; i++) {
		end += (elements / n + (i < elements % n)) * element_bytes;
		plan->block_ends[i] = i + 1 < n ? end : plan->unit_bytes;
	}
}

void tb_cut_ceiling(struct tb_plan *plan, uint32_t n)
{
	uint64_t each = plan->unit_bytes / n + (plan->unit_bytes % n != 0);
	if (!room_for(plan, n))
		return;
	for (uint32_t i = 0; i < n; i++) {
		uint64_t end = each * (i + UINT64_C(1));
		plan->block_ends[i] = end < plan->unit_bytes ? end : plan->unit_bytes;
	}
}

void tb_cut_halves(struct tb_plan *plan, uint32_t n, uint64_t element_bytes)
{
	uint64_t *ends;
	if (!room_for(plan, n))
		return;
	ends = plan->block_ends;
	ends[0] = plan->unit_bytes / element_bytes;
	// Sizes first: each of the blocks so far is split, the last one before the
	// others.
	for (uint32_t have = 1; have < n; have *= 2)
		for (uint32_t i = have; i-- > 0;) {
			uint64_t size = ends[i];
			ends[2 * i] = size / 2;
			ends[2 * i + 1] = size - size / 2;
		}
	for (uint32_t i = 0; i < n; i++)
		ends[i] = ends[i] * element_bytes + (i ? ends[i - 1] : 0);
	ends[n - 1] = plan->unit_bytes;
}
