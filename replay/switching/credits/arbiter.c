// Lanes of a link take turns by the tables (rule C11 of docs/credits.md).
//
// C12. Arbitration of VLs. The tables `vl_high` and `vl_low`, lists of entries
//   VL:weight, choose one of the VLs that can send. Each table has a current entry, at
//   first the first, with a weight left, at first its full weight. A table *takes* the
//   current entry if its VL can send and its weight left is above 0. Else it takes the
//   first entry whose VL can send and whose weight is above 0 among the next entries
//   in a circle, up to and including the current one; this entry becomes current with
//   its full weight. The link takes from `vl_high` if one of its VLs (with a weight
//   above 0) can send, unless the *limit* is reached and a VL of `vl_low` can send;
//   else from `vl_low`. The limit is reached when at least one packet was taken from
//   `vl_high` since the last one from `vl_low`, and those taken since come to
//   `vl_limit` · 4096 bytes on the wire or more; with 255 it never is. A packet lowers
//   the weight left of its entry by its blocks (not below 0). A preset with a VL in
//   neither table is refused, as such a VL never sends.
#include "credits.h"

#include "credit_params.h"

enum { LOW, HIGH };

// arbiter_entry returns the next entry of a table whose lane can send, or NOTHING.
static uint32_t arbiter_entry(
	const struct tb_vl_table *table, uint32_t at, uint32_t left, uint32_t can)
{
	if (table->n == 0)
		return NOTHING;
	if (left > 0 && can >> table->at[at].vl & 1)
		return at;
	for (uint32_t i = 1; i <= table->n; i++) {
		uint32_t next = (at + i) % table->n;
		if (can >> table->at[next].vl & 1 && table->at[next].weight > 0)
			return next;
	}
	return NOTHING;
}

uint32_t tb_arbiter_take(struct credits *credits, uint32_t slot, uint32_t can,
	struct credit_packet *const packets[TB_VLS_MOST])
{
	struct arbiter *arbiter = &credits->arbiters[slot];
	uint32_t limit = tb_credit_params(&credits->replay.net->params)->vl_limit;
	uint32_t entries[2];
	for (int i = LOW; i <= HIGH; i++)
		entries[i] = arbiter_entry(
			&credits->tables[i], arbiter->at[i], arbiter->left[i], can);
	bool reached = limit != TB_VL_LIMIT_NONE && arbiter->took_high &&
		       arbiter->high_bytes >= (uint64_t)limit * TB_VL_LIMIT_BYTES;
	bool low = entries[HIGH] == NOTHING || (reached && entries[LOW] != NOTHING);
	int t = low ? LOW : HIGH;
	const struct tb_vl_table *table = &credits->tables[t];
	uint32_t entry = entries[t];
	if (entry == NOTHING)
		return NOTHING;
	if (entry != arbiter->at[t] || arbiter->left[t] == 0)
		arbiter->left[t] = table->at[entry].weight;
	arbiter->at[t] = (uint8_t)entry;
	uint32_t bytes = packets[table->at[entry].vl]->of.wire_bytes;
	uint32_t blocks = blocks_of(bytes);
	arbiter->left[t] =
		blocks < arbiter->left[t] ? (uint8_t)(arbiter->left[t] - blocks) : 0;
	arbiter->took_high = t == HIGH;
	arbiter->high_bytes = t == HIGH ? arbiter->high_bytes + bytes : 0;
	return table->at[entry].vl;
}
