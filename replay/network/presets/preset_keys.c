#include "preset_keys.h"

#include <assert.h>
#include <string.h>

#define AT(field)	   offsetof(struct tb_network_params, field)
#define AT_CREDITS(field)  offsetof(struct tb_network_params, credits.field)
#define AT_ETHERNET(field) offsetof(struct tb_network_params, ethernet.field)
#define AT_HOST(field)	   offsetof(struct tb_host_params, field)

// A packet as long as so many FIFOs; what is kept of each is some bytes a packet and
// link.
enum { FIFOS_MOST = 4096 };

// The longest that a queue pair can have: 4.096 us 2^31 (docs/credits.md, C32).
#define RETRY_DELAY_MOST 8797 * TB_PS_PER_S

const struct tb_preset_key tb_preset_keys[] = {
	{"network", "name", TB_FORM_WORD, AT(name), 0, 0, TB_KEY_NEEDED},
	{"network", "switching", TB_FORM_SWITCHING, AT(switching), 0, 0, TB_KEY_MAY_LACK},
	{"network", "arity", TB_FORM_COUNT, AT(arity), 2, 4096, TB_KEY_NEEDED},
	{"network", "levels", TB_FORM_COUNT, AT(levels), 1, 24, TB_KEY_NEEDED},
	{"network", "shape", TB_FORM_SHAPE, AT(shape), 0, 0, TB_KEY_CAME_LATER},
	{"network", "rails", TB_FORM_COUNT, AT(n_rails), 1, 64, TB_KEY_MAY_LACK},
	{"network", "ascent", TB_FORM_ASCENT, AT(ascent), 0, 0, TB_KEY_NEEDED},
	{"network", "broadcast", TB_FORM_SWITCH, AT(broadcast), 0, 0, TB_KEY_MAY_LACK},
	{"network", "host", TB_FORM_LIBRARY, AT(host.name), 0, 0, TB_KEY_MAY_LACK},
	{"link", "rate", TB_FORM_RATE, AT(link_bytes_per_s), 1000000, 1000000000000,
		TB_KEY_NEEDED},
	{"link", "hop_latency", TB_FORM_TIME, AT(hop_latency_ps), 1, TB_PS_PER_S,
		TB_KEY_NEEDED},
	{"link", "level_rates", TB_FORM_LEVEL_RATES, AT(level_rates), 0, 0,
		TB_KEY_CAME_LATER},
	{"link", "level_latencies", TB_FORM_LEVEL_TIMES, AT(level_latencies), 0, 0,
		TB_KEY_CAME_LATER},
	{"packet", "payload", TB_FORM_SIZE, AT(packet_payload_bytes), 1, 1 << 20,
		TB_KEY_NEEDED},
	{"packet", "overhead", TB_FORM_SIZE, AT(packet_overhead_bytes), 0, 1 << 16,
		TB_KEY_NEEDED},
	{"node", "send_overhead", TB_FORM_TIME, AT(send_overhead_ps), 0, TB_PS_PER_S,
		TB_KEY_NEEDED},
	{"node", "receive_overhead", TB_FORM_TIME, AT(receive_overhead_ps), 0,
		TB_PS_PER_S, TB_KEY_NEEDED},
	{"node", "retries", TB_FORM_COUNT, AT(retries), 0, 255, TB_KEY_NEEDED},
	{"node", "retry_delay", TB_FORM_TIME, AT(retry_delay_ps), 0, RETRY_DELAY_MOST,
		TB_KEY_NEEDED},
	{TB_PRESET_HOST, "issue", TB_FORM_TIME, AT_HOST(issue_ps), 0, TB_PS_PER_S,
		TB_KEY_MAY_LACK},
	{TB_PRESET_HOST, "notice", TB_FORM_TIME, AT_HOST(notice_ps), 0, TB_PS_PER_S,
		TB_KEY_MAY_LACK},
	{TB_PRESET_HOST, "copy", TB_FORM_RATE, AT_HOST(copy_bytes_per_s), 1000000,
		1000000000000, TB_KEY_MAY_BE_NONE},
	{TB_PRESET_HOST, "largest", TB_FORM_SIZE, AT_HOST(largest_bytes), 1, 1 << 30,
		TB_KEY_MAY_BE_NONE},
	{TB_PRESET_HOST, "outstanding", TB_FORM_COUNT, AT_HOST(n_outstanding), 1, 1 << 20,
		TB_KEY_MAY_BE_NONE},
	{TB_PRESET_HOST, "rails_policy", TB_FORM_RAILS_POLICY, AT_HOST(rails_policy), 0,
		0, TB_KEY_CAME_LATER},
	{TB_PRESET_HOST, "stripe_above", TB_FORM_SIZE, AT_HOST(stripe_above_bytes), 0,
		1 << 30, TB_KEY_MAY_LACK},
	{TB_PRESET_HOST, "handshake", TB_FORM_HANDSHAKE, AT_HOST(handshake), 0, 0,
		TB_KEY_MAY_LACK},
	{TB_PRESET_HOST, "handshake_above", TB_FORM_SIZE, AT_HOST(handshake_above_bytes),
		0, 1 << 30, TB_KEY_MAY_LACK},
	{TB_PRESET_HOST, "local", TB_FORM_LOCAL, AT_HOST(local), 0, 0, TB_KEY_MAY_LACK},
	{TB_PRESET_HOST, "local_latency", TB_FORM_TIME, AT_HOST(local_latency_ps), 0,
		TB_PS_PER_S, TB_KEY_MAY_LACK},
	{TB_PRESET_HOST, "local_rate", TB_FORM_RATE, AT_HOST(local_bytes_per_s), 1000000,
		1000000000000, TB_KEY_MAY_BE_NONE},
};
const size_t tb_preset_n_keys = sizeof tb_preset_keys / sizeof *tb_preset_keys;

static const struct tb_preset_key circuits_keys[] = {
	{"link", "vcs", TB_FORM_COUNT, AT(n_vcs), 1, 16, TB_KEY_NEEDED},
	{"link", "fifo", TB_FORM_SIZE, AT(fifo_bytes), 1, 1 << 24, TB_KEY_NEEDED},
	{"link", "flit", TB_FORM_SIZE, AT(flit_bytes), 1, 4096, TB_KEY_NEEDED},
	{"link", "link_tokens", TB_FORM_REAL, AT(link_tokens), 0, 1, TB_KEY_CAME_LATER},
	{"node", "bus", TB_FORM_RATE, AT(bus_bytes_per_s), 1000000, 1000000000000,
		TB_KEY_MAY_BE_NONE},
	{"node", "bus_turn", TB_FORM_TIME, AT(bus_turn_ps), 0, TB_PS_PER_S,
		TB_KEY_CAME_LATER},
	{"node", "slice", TB_FORM_SIZE, AT(slice_bytes), 0, 1 << 30, TB_KEY_MAY_LACK},
	{"node", "ack_delay", TB_FORM_TIME, AT(ack_delay_ps), 0, TB_PS_PER_S,
		TB_KEY_NEEDED},
	{"node", "age_weight", TB_FORM_REAL, AT(age_weight), 0, 1, TB_KEY_NEEDED},
	{"node", "partners", TB_FORM_COUNT, AT(partners), 0, 1000000, TB_KEY_MAY_LACK},
	{"node", "partner_delay", TB_FORM_TIME, AT(partner_delay_ps), 0, TB_PS_PER_S,
		TB_KEY_MAY_LACK},
};

static int check_circuits(const struct tb_network_params *params, const char *source,
	struct tb_error *error)
{
	if (params->fifo_bytes < params->flit_bytes)
		return tb_fail_in(error, TB_EUSAGE, source,
			"fifo = %u: a FIFO must hold a flit of %u bytes",
			params->fifo_bytes, params->flit_bytes);
	uint64_t wire =
		(uint64_t)params->packet_payload_bytes + params->packet_overhead_bytes;
	if (wire < params->flit_bytes)
		return tb_fail_in(error, TB_EUSAGE, source,
			"flit = %u: it is longer than a whole packet, of payload + "
			"overhead = %u bytes",
			params->flit_bytes, (unsigned)wire);
	if (wire / params->fifo_bytes > FIFOS_MOST)
		return tb_fail_in(error, TB_EUSAGE, source,
			"fifo = %u: a packet of %u bytes would fill %u of them, at most "
			"%u are kept track of",
			params->fifo_bytes, (unsigned)wire,
			(unsigned)(wire / params->fifo_bytes), FIFOS_MOST);
	return TB_OK;
}

static const struct tb_preset_key credits_keys[] = {
	{"network", "queues", TB_FORM_QUEUES, AT_CREDITS(queues), 0, 0, TB_KEY_NEEDED},
	{"network", "input_speedup", TB_FORM_COUNT, AT_CREDITS(input_speedup), 1, 64,
		TB_KEY_MAY_BE_NONE},
	{"network", "forwarding", TB_FORM_FORWARDING, AT_CREDITS(forwarding), 0, 0,
		TB_KEY_NEEDED},
	{"network", "flow_control", TB_FORM_FLOW_CONTROL, AT_CREDITS(flow_control), 0, 0,
		TB_KEY_NEEDED},
	{"network", "sl_to_vl", TB_FORM_SL_TO_VL, AT_CREDITS(sl_to_vl), 0, 0,
		TB_KEY_MAY_LACK},
	{"link", "vls", TB_FORM_COUNT, AT(n_vcs), 1, TB_VLS_MOST, TB_KEY_NEEDED},
	{"link", "buffer", TB_FORM_SIZE, AT(fifo_bytes), 64, 1 << 30, TB_KEY_NEEDED},
	{"link", "xoff", TB_FORM_SIZE, AT_CREDITS(xoff_bytes), 0, 1 << 30,
		TB_KEY_MAY_LACK},
	{"link", "xon", TB_FORM_SIZE, AT_CREDITS(xon_bytes), 0, 1 << 30, TB_KEY_MAY_LACK},
	{"link", "vl_high", TB_FORM_VL_TABLE, AT_CREDITS(vl_high), 0, 0, TB_KEY_MAY_LACK},
	{"link", "vl_low", TB_FORM_VL_TABLE, AT_CREDITS(vl_low), 0, 0, TB_KEY_MAY_LACK},
	{"link", "vl_limit", TB_FORM_COUNT, AT_CREDITS(vl_limit), 0, TB_VL_LIMIT_NONE,
		TB_KEY_MAY_LACK},
	{"link", "xmit_wait_tick", TB_FORM_SIZE, AT_CREDITS(xmit_wait_tick_bytes), 0,
		1 << 16, TB_KEY_MAY_LACK},
	{"packet", "first_overhead", TB_FORM_SIZE, AT_CREDITS(first_overhead_bytes), 0,
		1 << 16, TB_KEY_MAY_LACK},
	{"packet", "ack", TB_FORM_SIZE, AT_CREDITS(ack_bytes), 0, 1 << 16,
		TB_KEY_MAY_LACK},
	{"node", "pcie", TB_FORM_RATE, AT_CREDITS(pcie_bytes_per_s), 1000000,
		1000000000000, TB_KEY_MAY_BE_NONE},
	{"node", "queue_pairs", TB_FORM_QUEUE_PAIRS, AT_CREDITS(queue_pairs), 0, 0,
		TB_KEY_NEEDED},
};

static const struct tb_preset_key ethernet_keys[] = {
	{"link", "queue", TB_FORM_SIZE, AT(fifo_bytes), 1, 1 << 30, TB_KEY_NEEDED},
	{"link", "burst", TB_FORM_SIZE, AT_ETHERNET(burst_bytes), 0, 1 << 30,
		TB_KEY_NEEDED},
	{"node", "initial_window", TB_FORM_COUNT, AT_ETHERNET(initial_window), 1, 10000,
		TB_KEY_NEEDED},
	{"node", "receive_window", TB_FORM_SIZE, AT_ETHERNET(window_bytes), 1, 1 << 30,
		TB_KEY_NEEDED},
	{"node", "rto_min", TB_FORM_TIME, AT_ETHERNET(rto_min_ps), 1, TB_PS_PER_S,
		TB_KEY_NEEDED},
	{"node", "delayed_ack", TB_FORM_TIME, AT_ETHERNET(delayed_ack_ps), 0, TB_PS_PER_S,
		TB_KEY_NEEDED},
	{"node", "idle_restart", TB_FORM_SWITCH, AT_ETHERNET(idle_restart), 0, 0,
		TB_KEY_NEEDED},
};

// check_ethernet: a frame that no queue has room for would be sent again for ever.
static int check_ethernet(const struct tb_network_params *params, const char *source,
	struct tb_error *error)
{
	uint32_t wire = params->packet_payload_bytes + params->packet_overhead_bytes;
	if (params->broadcast)
		return tb_fail_in(error, TB_EUSAGE, source,
			"broadcast = yes: switching = ethernet has no broadcasts");
	if (params->fifo_bytes >= wire)
		return TB_OK;
	return tb_fail_in(error, TB_EUSAGE, source,
		"queue = %u: expected room for the longest frame, payload + overhead = "
		"%u bytes",
		params->fifo_bytes, wire);
}

static const struct tb_switching_words paused_words = {"virtual lanes",
	"a turn or the end of a pause", "others ahead or the link paused",
	"the link or had it paused", "packets stood ready or paused",
	"Whose packets held the link or had it paused",
	"The link at the end of a chain of pauses"};

const struct tb_preset_model tb_preset_models[] = {
	{"circuits", circuits_keys, sizeof circuits_keys / sizeof *circuits_keys,
		check_circuits,
		{"virtual channels", "a virtual channel", "no free virtual channel",
			"the virtual channels", "a virtual channel was held",
			"Whose packets held the virtual channels",
			"The link at the end of a chain of held channels"},
		NULL},
	{"credits", credits_keys, sizeof credits_keys / sizeof *credits_keys,
		tb_preset_check_credits,
		{"virtual lanes", "a turn or credits", "others ahead or too few credits",
			"the link or its buffer", "packets stood ready",
			"Whose packets held the link or its buffer",
			"The link at the end of a chain of full buffers"},
		&paused_words},
	{"ethernet", ethernet_keys, sizeof ethernet_keys / sizeof *ethernet_keys,
		check_ethernet,
		{"queues", "the link", "frames ahead in the queue", "the queue",
			"frames stood and none crossed",
			"Whose frames stood ahead in the queue",
			"The link before which frames queue"},
		NULL},
};
const size_t tb_preset_n_models = sizeof tb_preset_models / sizeof *tb_preset_models;

const struct tb_preset_model *tb_preset_model_find(const char *name)
{
	for (size_t i = 0; i < tb_preset_n_models; i++)
		if (strcmp(tb_preset_models[i].name, name) == 0)
			return &tb_preset_models[i];
	return NULL;
}

const struct tb_switching_words *tb_switching_words(
	const struct tb_network_params *params)
{
	const struct tb_preset_model *model = tb_preset_model_find(params->switching);
	if (!model)
		return NULL;
	return model->paused && params->credits.flow_control == TB_FLOW_PAUSE
		       ? model->paused
		       : &model->words;
}

size_t tb_preset_keys_of(const struct tb_preset_model *model,
	struct tb_preset_key keys[TB_PARAMETERS_MOST])
{
	size_t n = tb_preset_n_keys, n_added = model ? model->n_keys : 0;
	assert(n + n_added <= TB_PARAMETERS_MOST);
	memcpy(keys, tb_preset_keys, n * sizeof *keys);
	if (n_added)
		memcpy(keys + n, model->keys, n_added * sizeof *keys);
	return n + n_added;
}

const char *tb_preset_choice(enum tb_preset_form form, unsigned i)
{
	static const char *const switches[] = {"no", "yes"};
	if (form == TB_FORM_ASCENT && i <= TB_ASCENT_TABLE)
		return tb_ascent_name((enum tb_ascent)i);
	if (form == TB_FORM_HANDSHAKE)
		return tb_handshake_name((enum tb_handshake)i);
	if (form == TB_FORM_LOCAL)
		return tb_local_name((enum tb_local)i);
	if (form == TB_FORM_RAILS_POLICY)
		return tb_rails_policy_name((enum tb_rails_policy)i);
	if (form == TB_FORM_QUEUES)
		return tb_queues_name((enum tb_queues)i);
	if (form == TB_FORM_FORWARDING)
		return tb_forwarding_name((enum tb_forwarding)i);
	if (form == TB_FORM_FLOW_CONTROL)
		return tb_flow_control_name((enum tb_flow_control)i);
	if (form == TB_FORM_QUEUE_PAIRS)
		return tb_queue_pairs_name((enum tb_queue_pairs)i);
	return form == TB_FORM_SWITCH && i < 2 ? switches[i] : NULL;
}

size_t tb_preset_text_room(enum tb_preset_form form)
{
	if (form == TB_FORM_VL_TABLE)
		return TB_VL_TABLE_TEXT;
	return form == TB_FORM_SL_TO_VL ? TB_SL_TEXT : 0;
}

bool tb_preset_find_choice(enum tb_preset_form form, const char *word, unsigned *found)
{
	const char *at;
	for (unsigned i = 0; (at = tb_preset_choice(form, i)) != NULL; i++)
		if (strcmp(at, word) == 0) {
			*found = i;
			return true;
		}
	return false;
}
