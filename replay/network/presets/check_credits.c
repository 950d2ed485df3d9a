// What the keys of a network with credits mean together.
#include "preset_keys.h"

static uint64_t blocks(uint64_t bytes)
{
	return (bytes + TB_CREDIT_BLOCK_BYTES - 1) / TB_CREDIT_BLOCK_BYTES;
}

// wire_of is the longest packet on the wire.
static uint64_t wire_of(const struct tb_network_params *params)
{
	return (uint64_t)params->packet_payload_bytes + params->packet_overhead_bytes +
	       params->credits.first_overhead_bytes;
}

static int check_buffer(const struct tb_network_params *params, const char *source,
	struct tb_error *error)
{
	uint64_t need = blocks(wire_of(params)) * TB_CREDIT_BLOCK_BYTES;
	if (params->fifo_bytes >= need)
		return TB_OK;
	return tb_fail_in(error, TB_EUSAGE, source,
		"buffer = %u: expected room for the longest packet, %llu bytes (payload "
		"+ overhead + first_overhead in blocks of 64)",
		params->fifo_bytes, (unsigned long long)need);
}

// headroom_of is what can still come in after a buffer passed xoff: what the link carries
// in twice its latency, and three frames (rule C10). Rounded upwards; a double holds what
// 10^12 bytes per second and a second of latency come to.
static uint64_t headroom_of(const struct tb_network_params *params)
{
	double under_way = 2.0 * (double)params->hop_latency_ps *
			   (double)params->link_bytes_per_s / (double)TB_PS_PER_S;
	return (uint64_t)under_way + 1 + 3 * wire_of(params);
}

static int check_pause(const struct tb_network_params *params, const char *source,
	struct tb_error *error)
{
	const struct tb_credit_params *credits = &params->credits;
	if (credits->flow_control != TB_FLOW_PAUSE)
		return TB_OK;
	if (credits->xon_bytes > credits->xoff_bytes)
		return tb_fail_in(error, TB_EUSAGE, source,
			"xon = %u: expected xoff = %u or less", credits->xon_bytes,
			credits->xoff_bytes);
	uint64_t headroom = headroom_of(params);
	if (params->fifo_bytes >= credits->xoff_bytes + headroom)
		return TB_OK;
	return tb_fail_in(error, TB_EUSAGE, source,
		"buffer = %u: expected %llu bytes or more, xoff = %u and a headroom of "
		"%llu for what is under way at rate for twice hop_latency and three "
		"packets",
		params->fifo_bytes, (unsigned long long)(credits->xoff_bytes + headroom),
		credits->xoff_bytes, (unsigned long long)headroom);
}

static bool sends(const struct tb_vl_table *table, uint32_t vl)
{
	for (uint32_t i = 0; i < table->n; i++)
		if (table->at[i].vl == vl && table->at[i].weight > 0)
			return true;
	return false;
}

// check_lanes: each lane that packets can be on sends, by one of the tables.
static int check_lanes(const struct tb_network_params *params, const char *source,
	struct tb_error *error)
{
	const struct tb_credit_params *credits = &params->credits;
	struct tb_vl_table high, low;
	uint8_t vls[TB_SLS];
	const char *wrong = NULL;
	if (tb_vl_table_read(&high, credits->vl_high, params->n_vcs, false) != TB_OK)
		wrong = "vl_high";
	else if (tb_vl_table_read(&low, credits->vl_low, params->n_vcs, true) != TB_OK)
		wrong = "vl_low";
	else if (tb_sl_to_vl_read(vls, credits->sl_to_vl, params->n_vcs) != TB_OK)
		wrong = "sl_to_vl";
	if (wrong)
		return tb_fail_in(error, TB_EUSAGE, source,
			"%s: expected lanes below vls = %u", wrong, params->n_vcs);
	for (uint32_t sl = 0; sl < TB_SLS; sl++)
		if (!sends(&high, vls[sl]) && !sends(&low, vls[sl]))
			return tb_fail_in(error, TB_EUSAGE, source,
				"lane %u, of service level %u, has no weight in vl_high "
				"or vl_low: it would never send",
				vls[sl], sl);
	return TB_OK;
}

int tb_preset_check_credits(const struct tb_network_params *params, const char *source,
	struct tb_error *error)
{
	if (params->broadcast)
		return tb_fail_in(error, TB_EUSAGE, source,
			"broadcast = yes: switching = credits has no broadcasts");
	int status = check_buffer(params, source, error);
	if (status == TB_OK)
		status = check_pause(params, source, error);
	return status == TB_OK ? check_lanes(params, source, error) : status;
}
