#include "credit_params.h"

#include <stddef.h>
#include <string.h>

const char *const tb_queues_words[] = {
	[TB_QUEUES_FIFO] = "fifo",
	[TB_QUEUES_VOQ] = "voq",
	NULL,
};

const char *const tb_forwarding_words[] = {
	[TB_FORWARDING_CUT_THROUGH] = "cut-through",
	[TB_FORWARDING_STORE] = "store-and-forward",
	NULL,
};

const char *const tb_flow_control_words[] = {
	[TB_FLOW_CREDITS] = "credits",
	[TB_FLOW_PAUSE] = "pause",
	NULL,
};

const char *const tb_queue_pairs_words[] = {
	[TB_QUEUE_PAIRS_CONNECTION] = "connection",
	[TB_QUEUE_PAIRS_MESSAGE] = "message",
	NULL,
};

const char *const tb_congestion_control_words[] = {
	[TB_CONGESTION_NONE] = "none",
	[TB_CONGESTION_DCQCN] = "dcqcn",
	[TB_CONGESTION_FECN] = "fecn",
	NULL,
};

const char *const tb_fecn_victims_words[] = {
	[TB_FECN_VICTIMS_NONE] = "none",
	[TB_FECN_VICTIMS_NODES] = "nodes",
	[TB_FECN_VICTIMS_ALL] = "all",
	NULL,
};

// As the view xmit_wait of the store has it, in the same order.
uint64_t tb_xmit_wait_ticks(
	const struct tb_credit_params *credits, uint64_t stall_ps, uint64_t bytes_per_s)
{
	double bytes = 1.0 * (double)stall_ps * (double)bytes_per_s / 1e12;
	uint32_t tick = credits->xmit_wait_tick_bytes;
	return tick ? (uint64_t)(bytes / tick) : 0;
}

static const char *skip_gap(const char *at)
{
	return at + strspn(at, " ,\t");
}

// read_byte reads a number of at most three digits below `end`: what is behind it, or
// NULL.
static const char *read_byte(const char *at, uint32_t end, uint8_t *byte)
{
	size_t n = strspn(at, "0123456789");
	uint32_t value = 0;
	if (n == 0 || n > 3)
		return NULL;
	for (size_t i = 0; i < n; i++)
		value = value * 10 + (uint32_t)(at[i] - '0');
	if (value >= end)
		return NULL;
	*byte = (uint8_t)value;
	return at + n;
}

static struct tb_vl_table even(uint32_t n_vls)
{
	struct tb_vl_table table = {.n = n_vls};
	for (uint32_t vl = 0; vl < n_vls; vl++) {
		table.at[vl].vl = (uint8_t)vl;
		table.at[vl].weight = 64;
	}
	return table;
}

static int read_entries(struct tb_vl_table *table, const char *text, uint32_t n_vls)
{
	for (const char *at = skip_gap(text); *at; at = skip_gap(at)) {
		if (table->n == TB_ARBITRATION_MOST)
			return TB_EUSAGE;
		at = read_byte(at, n_vls, &table->at[table->n].vl);
		if (!at || *at != ':')
			return TB_EUSAGE;
		at = read_byte(at + 1, 256, &table->at[table->n].weight);
		if (!at || !strchr(" ,\t", *at)) // finds the text's end too
			return TB_EUSAGE;
		table->n++;
	}
	return table->n ? TB_OK : TB_EUSAGE;
}

int tb_vl_table_read(
	struct tb_vl_table *table, const char *text, uint32_t n_vls, bool otherwise_even)
{
	struct tb_vl_table made = {.n = 0};
	if (n_vls < 1 || n_vls > TB_VLS_MOST)
		return TB_EUSAGE;
	if (text[0] == '\0')
		text = otherwise_even ? "even" : "none";
	if (strcmp(text, "even") == 0) {
		made = even(n_vls);
	} else if (strcmp(text, "none") != 0) {
		int status = read_entries(&made, text, n_vls);
		if (status != TB_OK)
			return status;
	}
	*table = made;
	return TB_OK;
}

int tb_sl_to_vl_read(uint8_t vls[TB_SLS], const char *text, uint32_t n_vls)
{
	uint8_t made[TB_SLS] = {0};
	uint32_t n = 0;
	if (n_vls < 1 || n_vls > TB_VLS_MOST)
		return TB_EUSAGE;
	if (text[0] == '\0' || strcmp(text, "modulo") == 0)
		for (; n < TB_SLS; n++)
			made[n] = (uint8_t)(n % n_vls);
	else
		for (const char *at = skip_gap(text); *at; at = skip_gap(at)) {
			at = n < TB_SLS ? read_byte(at, n_vls, &made[n++]) : NULL;
			if (!at || !strchr(" ,\t", *at))
				return TB_EUSAGE;
		}
	if (n == 0)
		return TB_EUSAGE;
	for (; n < TB_SLS; n++)
		made[n] = made[n - 1];
	memcpy(vls, made, sizeof made);
	return TB_OK;
}
