#include "switchings.h"

#include "key_rows.h"
#include "order.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

// A packet as long as so many FIFOs; what is kept of each is some bytes a packet and
// link.
enum { FIFOS_MOST = 4096 };

// No window of packets begins or ends later than after a day.
#define EXACT_MOST (86400 * TB_PS_PER_S)

enum {
#define NUMBER(name) NUMBER_OF_##name,
	TB_SWITCHINGS(NUMBER) N_KINDS
};

const char *const tb_buffers_words[] = {
	[TB_BUFFERS_NIC] = "nic",
	[TB_BUFFERS_MAIN] = "main",
	[TB_BUFFERS_MAIN_TO_NIC] = "main-to-nic",
	[TB_BUFFERS_NIC_TO_MAIN] = "nic-to-main",
	NULL,
};

// clang-format off
// Where buffers lie, of circuits and of the fluid that stands for them.
#define MEMORY_ROWS \
	{"node", "pci", RATE, AT_CIRCUIT(pci_bytes_per_s), TB_KEY_NONE_LATER, \
		"rate of payload in and out of a node's main memory together"}, \
	{"node", "pci_turn", TIME(0, TB_PS_PER_S), AT_CIRCUIT(pci_turn_ps), \
		TB_KEY_CAME_LATER, "time from payload of one direction to the other"}, \
	{"node", "buffers", CHOICE(tb_buffers_words, TB_BUFFERS_NIC_TO_MAIN), \
		AT_CIRCUIT(buffers), TB_KEY_CAME_LATER, \
		"where messages lie: behind bus (nic), behind pci (main), or from one to " \
		"the other"}, \
	{"packet", "write_block", SIZE(0, 1 << 16), AT_CIRCUIT(write_block_bytes), \
		TB_KEY_CAME_LATER, "bytes that a packet carries at least, or a multiple"}
// The windows and send buffers of connections, of Ethernet and of the fluid that stands
// for it.
#define WINDOW_ROWS(need) \
	{"node", "initial_window", COUNT(1, 10000), AT_ETHERNET(initial_window), need, \
		"segments that a connection begins with"}, \
	{"node", "receive_window", SIZE(1, 1 << 30), AT_ETHERNET(window_bytes), need, \
		"payload that is not acknowledged yet, at most"}, \
	{"node", "header_room", SIZE(0, 4096), AT_ETHERNET(header_room), \
		TB_KEY_CAME_LATER, "bytes for headers in each buffer of a node's kernel"}, \
	{"node", "tcp", CHOICE(tb_tcp_words, TB_TCP_BBR), AT_ETHERNET(tcp), \
		TB_KEY_CAME_LATER, "how a connection's window grows and shrinks"}
// clang-format on

static const struct tb_preset_key circuits_keys[] = {
	{"link", "vcs", COUNT(1, 16), AT(n_vcs), TB_KEY_NEEDED,
		"virtual channels of each direction"},
	{"link", "fifo", SIZE(1, 1 << 24), AT(fifo_bytes), TB_KEY_NEEDED,
		"bytes of each virtual channel, at the receiving end"},
	{"link", "flit", SIZE(1, 4096), AT_CIRCUIT(flit_bytes), TB_KEY_NEEDED,
		"bytes that cross a link at once"},
	{"link", "link_tokens", REAL, AT_CIRCUIT(link_tokens), TB_KEY_CAME_LATER,
		"bytes of flow control that each byte costs the other direction"},
	{"node", "bus", RATE, AT_CIRCUIT(bus_bytes_per_s), TB_KEY_MAY_BE_NONE,
		"rate of payload in and out of a node together"},
	{"node", "bus_turn", TIME(0, TB_PS_PER_S), AT_CIRCUIT(bus_turn_ps),
		TB_KEY_CAME_LATER, "time from payload of one direction to the other"},
	MEMORY_ROWS,
	{"node", "slice", SIZE(0, 1 << 30), AT_CIRCUIT(slice_bytes), TB_KEY_MAY_LACK,
		"bytes that a message sends before the next one's turn; 0: all"},
	{"node", "ack_delay", TIME(0, TB_PS_PER_S), AT_CIRCUIT(ack_delay_ps),
		TB_KEY_NEEDED, "time before the destination's acknowledgement leaves"},
	{"node", "age_weight", REAL, AT_CIRCUIT(age_weight), TB_KEY_NEEDED,
		"weight of waits at earlier switches, where a switch chooses"},
	{"node", "partners", COUNT(0, 1000000), AT_CIRCUIT(partners), TB_KEY_MAY_LACK,
		"partners of a node that it acknowledges at once; 0: all"},
	{"node", "partner_delay", TIME(0, TB_PS_PER_S), AT_CIRCUIT(partner_delay_ps),
		TB_KEY_MAY_LACK, "delay of acknowledgements to further partners"},
};

static int check_circuits(const struct tb_network_params *params, const char *source,
	struct tb_error *error)
{
	uint32_t flit_bytes = tb_circuit_params(params)->flit_bytes;
	if (params->fifo_bytes < flit_bytes)
		return tb_fail_in(error, TB_EUSAGE, source,
			"fifo = %u: a FIFO must hold a flit of %u bytes",
			params->fifo_bytes, flit_bytes);
	uint64_t wire =
		(uint64_t)params->packet_payload_bytes + params->packet_overhead_bytes;
	if (wire < flit_bytes)
		return tb_fail_in(error, TB_EUSAGE, source,
			"flit = %u: it is longer than a whole packet, of payload + "
			"overhead = %u bytes",
			flit_bytes, (unsigned)wire);
	if (wire / params->fifo_bytes > FIFOS_MOST)
		return tb_fail_in(error, TB_EUSAGE, source,
			"fifo = %u: a packet of %u bytes would fill %u of them, at most "
			"%u are kept track of",
			params->fifo_bytes, (unsigned)wire,
			(unsigned)(wire / params->fifo_bytes), FIFOS_MOST);
	return TB_OK;
}

static const struct tb_preset_key credits_keys[] = {
	{"network", "queues", CHOICE(tb_queues_words, TB_QUEUES_VOQ), AT_CREDIT(queues),
		TB_KEY_NEEDED, "the order in which packets of an input leave"},
	{"network", "input_speedup", COUNT(1, 64), AT_CREDIT(input_speedup),
		TB_KEY_MAY_BE_NONE, "packets that an input sends on at once"},
	{"network", "forwarding", CHOICE(tb_forwarding_words, TB_FORWARDING_STORE),
		AT_CREDIT(forwarding), TB_KEY_NEEDED, "when a switch sends a packet on"},
	{"network", "flow_control", CHOICE(tb_flow_control_words, TB_FLOW_PAUSE),
		AT_CREDIT(flow_control), TB_KEY_NEEDED,
		"what keeps a buffer from overflowing"},
	{"network", "congestion_control",
		CHOICE(tb_congestion_control_words, TB_CONGESTION_FECN),
		AT_CREDIT(congestion_control), TB_KEY_CAME_LATER,
		"what makes senders slower where queues are long"},
	{"network", "sl_to_vl", TEXT(SL_TO_VL), AT_CREDIT(sl_to_vl), TB_KEY_MAY_LACK,
		"the lane of each service level"},
	{"link", "vls", COUNT(1, TB_VLS_MOST), AT(n_vcs), TB_KEY_NEEDED,
		"virtual lanes of each direction"},
	{"link", "buffer", SIZE(64, 1 << 30), AT(fifo_bytes), TB_KEY_NEEDED,
		"buffer of each lane, at the receiving end"},
	{"link", "xoff", SIZE(0, 1 << 30), AT_CREDIT(xoff_bytes), TB_KEY_MAY_LACK,
		"filling of a buffer that pauses its sender"},
	{"link", "xon", SIZE(0, 1 << 30), AT_CREDIT(xon_bytes), TB_KEY_MAY_LACK,
		"filling that lets it go on"},
	{"link", "vl_high", TEXT(VL_TABLE), AT_CREDIT(vl_high), TB_KEY_MAY_LACK,
		"arbitration table of high priority"},
	{"link", "vl_low", TEXT(VL_TABLE), AT_CREDIT(vl_low), TB_KEY_MAY_LACK,
		"arbitration table of low priority"},
	{"link", "vl_limit", COUNT(0, TB_VL_LIMIT_NONE), AT_CREDIT(vl_limit),
		TB_KEY_MAY_LACK,
		"units of 4096 bytes of high priority before low has a turn; 255: no "
		"limit"},
	{"link", "ecn_min", SIZE(0, 1 << 30), AT_CREDIT(ecn_min_bytes), TB_KEY_CAME_LATER,
		"queue before a link from which on packets are marked"},
	{"link", "ecn_max", SIZE(0, 1 << 30), AT_CREDIT(ecn_max_bytes), TB_KEY_CAME_LATER,
		"queue above which all are"},
	{"link", "ecn_probability", REAL, AT_CREDIT(ecn_probability), TB_KEY_CAME_LATER,
		"share that is marked just below ecn_max"},
	{"link", "fecn_threshold", COUNT(0, TB_FECN_THRESHOLD_MOST),
		AT_CREDIT(fecn_threshold), TB_KEY_CAME_LATER,
		"how soon queues mark packets, by FECN; 0: never"},
	{"link", "fecn_packet_size", COUNT(0, 255), AT_CREDIT(fecn_packet_size),
		TB_KEY_CAME_LATER, "blocks of 64 bytes of the shortest packet marked"},
	{"link", "marking_rate", COUNT(0, 65535), AT_CREDIT(marking_rate),
		TB_KEY_CAME_LATER, "packets between two that are marked"},
	{"link", "fecn_victims", CHOICE(tb_fecn_victims_words, TB_FECN_VICTIMS_ALL),
		AT_CREDIT(fecn_victims), TB_KEY_CAME_LATER,
		"links that mark though they lack credits"},
	{"link", "xmit_wait_tick", SIZE(0, 1 << 16), AT_CREDIT(xmit_wait_tick_bytes),
		TB_KEY_MAY_LACK,
		"bytes of the port in a tick of PortXmitWait; 0: no counter"},
	{"packet", "first_overhead", SIZE(0, 1 << 16), AT_CREDIT(first_overhead_bytes),
		TB_KEY_MAY_LACK, "bytes that a message's first packet has in addition"},
	{"packet", "ack", SIZE(0, 1 << 16), AT_CREDIT(ack_bytes), TB_KEY_MAY_LACK,
		"bytes of an acknowledgement on the wire"},
	{"node", "pcie", RATE, AT_CREDIT(pcie_bytes_per_s), TB_KEY_MAY_BE_NONE,
		"rate of each direction between node and adapter"},
	{"node", "cnp_interval", TIME(0, TB_PS_PER_S), AT_CREDIT(cnp_interval_ps),
		TB_KEY_CAME_LATER, "time between congestion notifications to a node"},
	{"node", "rate_timer", TIME(0, TB_PS_PER_S), AT_CREDIT(rate_timer_ps),
		TB_KEY_CAME_LATER, "time between steps of a rate that was lowered"},
	{"node", "rate_bytes", SIZE(0, 1 << 30), AT_CREDIT(rate_bytes), TB_KEY_CAME_LATER,
		"bytes between such steps"},
	{"node", "rate_step", RATE, AT_CREDIT(rate_step_bytes_per_s), TB_KEY_NONE_LATER,
		"what a step adds to the rate aimed at"},
	{"node", "inline", SIZE(0, 1 << 30), AT_CREDIT(inline_bytes), TB_KEY_CAME_LATER,
		"bytes of a message that go to the adapter with its description"},
	{"node", "fetch_delay", TIME(0, TB_PS_PER_S), AT_CREDIT(fetch_delay_ps),
		TB_KEY_CAME_LATER, "time until the adapter has those of a longer one"},
	{"node", "queue_pair_gap", TIME(0, TB_PS_PER_S), AT_CREDIT(queue_pair_gap_ps),
		TB_KEY_CAME_LATER,
		"time between messages that begin on one queue pair, at least"},
	{"node", "message_gap", TIME(0, TB_PS_PER_S), AT_CREDIT(message_gap_ps),
		TB_KEY_CAME_LATER, "time between messages that a node begins, at least"},
	{"node", "ccti_increase", COUNT(0, 255), AT_CREDIT(ccti_increase),
		TB_KEY_CAME_LATER,
		"what a notification adds to the index of the table of delays"},
	{"node", "ccti_limit", COUNT(0, TB_CCTI_MOST), AT_CREDIT(ccti_limit),
		TB_KEY_CAME_LATER, "the highest index"},
	{"node", "ccti_min", COUNT(0, TB_CCTI_MOST), AT_CREDIT(ccti_min),
		TB_KEY_CAME_LATER, "the lowest index"},
	{"node", "ccti_timer", TIME(0, TB_PS_PER_S), AT_CREDIT(ccti_timer_ps),
		TB_KEY_CAME_LATER, "time after which the index falls by one"},
	{"node", "cct_shift", COUNT(0, 3), AT_CREDIT(cct_shift), TB_KEY_CAME_LATER,
		"the table is in packets of this power of 1/2"},
	{"node", "cct_square", REAL, AT_CREDIT(cct_square), TB_KEY_CAME_LATER,
		"the table's multiplier by the square of the index"},
	{"node", "queue_pairs", CHOICE(tb_queue_pairs_words, TB_QUEUE_PAIRS_MESSAGE),
		AT_CREDIT(queue_pairs), TB_KEY_NEEDED,
		"what takes turns, packet by packet"},
};

// wire_of is the longest packet on the wire.
static uint64_t wire_of(const struct tb_network_params *params)
{
	return (uint64_t)params->packet_payload_bytes + params->packet_overhead_bytes +
	       tb_credit_params(params)->first_overhead_bytes;
}

static int check_pause(const struct tb_network_params *params, const char *source,
	struct tb_error *error)
{
	const struct tb_credit_params *credits = tb_credit_params(params);
	if (credits->flow_control != TB_FLOW_PAUSE)
		return TB_OK;
	if (credits->xoff_bytes == 0)
		return tb_fail_in(error, TB_EUSAGE, source,
			"flow_control = pause: expected xoff above 0, the bytes in a "
			"buffer that pause its link");
	if (credits->xon_bytes > credits->xoff_bytes)
		return tb_fail_in(error, TB_EUSAGE, source,
			"xon = %u: expected xoff = %u or less", credits->xon_bytes,
			credits->xoff_bytes);
	// What can still come in after a buffer passed xoff: what the link carries
	// in twice its latency, and three frames (rule C10). Rounded upwards; a double
	// holds what 10^12 bytes per second and a second of latency come to.
	double under_way = 2.0 * (double)params->hop_latency_ps *
			   (double)params->link_bytes_per_s / (double)TB_PS_PER_S;
	uint64_t headroom = (uint64_t)under_way + 1 + 3 * wire_of(params);
	if (params->fifo_bytes >= credits->xoff_bytes + headroom)
		return TB_OK;
	return tb_fail_in(error, TB_EUSAGE, source,
		"buffer = %u: expected %llu bytes or more, xoff = %u and a headroom of "
		"%llu for what is under way at rate for twice hop_latency and three "
		"packets",
		params->fifo_bytes, (unsigned long long)(credits->xoff_bytes + headroom),
		credits->xoff_bytes, (unsigned long long)headroom);
}

static int check_fecn(const struct tb_credit_params *credits, const char *source,
	struct tb_error *error)
{
	const char *missing = NULL;
	if (credits->fecn_threshold == 0)
		missing = "fecn_threshold";
	else if (credits->ccti_increase == 0)
		missing = "ccti_increase";
	else if (credits->ccti_timer_ps == 0)
		missing = "ccti_timer";
	else if (credits->cct_square == 0)
		missing = "cct_square";
	if (missing)
		return tb_fail_in(error, TB_EUSAGE, source,
			"congestion_control = fecn: expected %s above 0 too", missing);
	if (credits->ccti_min < credits->ccti_limit)
		return TB_OK;
	return tb_fail_in(error, TB_EUSAGE, source,
		"ccti_min = %u: expected less than ccti_limit = %u", credits->ccti_min,
		credits->ccti_limit);
}

static int check_congestion(const struct tb_network_params *params, const char *source,
	struct tb_error *error)
{
	const struct tb_credit_params *credits = tb_credit_params(params);
	const char *missing = NULL;
	if (credits->congestion_control == TB_CONGESTION_NONE)
		return TB_OK;
	if (credits->congestion_control == TB_CONGESTION_FECN)
		return check_fecn(credits, source, error);
	if (credits->rate_timer_ps == 0)
		missing = "rate_timer";
	else if (credits->rate_bytes == 0)
		missing = "rate_bytes";
	else if (credits->rate_step_bytes_per_s == 0)
		missing = "rate_step";
	if (missing)
		return tb_fail_in(error, TB_EUSAGE, source,
			"congestion_control = dcqcn: expected %s above 0 too", missing);
	if (credits->ecn_min_bytes <= credits->ecn_max_bytes)
		return TB_OK;
	return tb_fail_in(error, TB_EUSAGE, source,
		"ecn_min = %u: expected ecn_max = %u or less", credits->ecn_min_bytes,
		credits->ecn_max_bytes);
}

// check_gaps: so many messages of a node have begun in queue_pair_gap, at most.
static int check_gaps(const struct tb_network_params *params, const char *source,
	struct tb_error *error)
{
	const struct tb_credit_params *credits = tb_credit_params(params);
	if (credits->queue_pair_gap_ps / TB_GAPS_MOST <= credits->message_gap_ps &&
		(credits->message_gap_ps || !credits->queue_pair_gap_ps))
		return TB_OK;
	return tb_fail_in(error, TB_EUSAGE, source,
		"queue_pair_gap: expected at most %d times message_gap, which is %lld ps",
		TB_GAPS_MOST, (long long)credits->message_gap_ps);
}

static bool sends(const struct tb_vl_table *table, uint32_t vl)
{
	for (uint32_t i = 0; i < table->n; i++)
		if (table->at[i].vl == vl && table->at[i].weight > 0)
			return true;
	return false;
}

static int check_credits(const struct tb_network_params *params, const char *source,
	struct tb_error *error)
{
	int status = TB_OK;
	uint64_t need =
		((wire_of(params) + TB_CREDIT_BLOCK_BYTES - 1) / TB_CREDIT_BLOCK_BYTES) *
		TB_CREDIT_BLOCK_BYTES;
	if (params->fifo_bytes < need) {
		status = tb_fail_in(error, TB_EUSAGE, source,
			"buffer = %u: expected room for the longest packet, %llu bytes "
			"(payload + overhead + first_overhead in blocks of 64)",
			params->fifo_bytes, (unsigned long long)need);
	}
	if (status == TB_OK)
		status = check_pause(params, source, error);
	if (status == TB_OK)
		status = check_congestion(params, source, error);
	if (status == TB_OK)
		status = check_gaps(params, source, error);
	if (status != TB_OK)
		return status;
	// Each lane that packets can be on sends, by one of the tables.
	const struct tb_credit_params *credits = tb_credit_params(params);
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

static const struct tb_preset_key ethernet_keys[] = {
	{"link", "queue", SIZE(1, 1 << 30), AT(fifo_bytes), TB_KEY_NEEDED,
		"bytes of the queue before each link; frames beyond it are dropped"},
	{"link", "burst", SIZE(0, 1 << 30), AT_ETHERNET(burst_bytes), TB_KEY_NEEDED,
		"bytes that a port's shaper lets pass at once; 0: a cable"},
	WINDOW_ROWS(TB_KEY_NEEDED),
	{"node", "rto_min", TIME(1, TB_PS_PER_S), AT_ETHERNET(rto_min_ps), TB_KEY_NEEDED,
		"the shortest retransmission timeout"},
	{"node", "delayed_ack", TIME(0, TB_PS_PER_S), AT_ETHERNET(delayed_ack_ps),
		TB_KEY_NEEDED, "time that a receiver waits for a second segment"},
	{"node", "idle_restart", YES_OR_NO, AT_ETHERNET(idle_restart), TB_KEY_NEEDED,
		"an idle connection begins with slow start again"},
};

// check_ethernet: a frame that no queue has room for would be sent again for ever.
static int check_ethernet(const struct tb_network_params *params, const char *source,
	struct tb_error *error)
{
	uint32_t wire = params->packet_payload_bytes + params->packet_overhead_bytes;
	if (params->fifo_bytes >= wire)
		return TB_OK;
	return tb_fail_in(error, TB_EUSAGE, source,
		"queue = %u: expected room for the longest frame, payload + overhead = "
		"%u bytes",
		params->fifo_bytes, wire);
}

#define NAME(name) #name,
static const char *const names[] = {TB_SWITCHINGS(NAME) NULL};

// fluid_keys are those keys of others that concern messages and nodes, not packets and
// queues. A network has those of the switching that it stands for.
static const struct tb_preset_key fluid_keys[] = {
	{"network", "stands_for", CHOICE(names, NUMBER_OF_ethernet), AT(stands_for),
		TB_KEY_CAME_LATER, "the switching that the network has with packets"},
	{"network", "exact_from", TIME(0, EXACT_MOST), AT(exact_from_ps),
		TB_KEY_CAME_LATER, "from when on it has packets, until exact_to"},
	{"network", "exact_to", TIME(0, EXACT_MOST), AT(exact_to_ps), TB_KEY_CAME_LATER,
		"until when it has packets; 0: never"},
	{"network", "forwarding", CHOICE(tb_forwarding_words, TB_FORWARDING_STORE),
		AT_CREDIT(forwarding), TB_KEY_CAME_LATER,
		"when a switch sends a packet on"},
	{"network", "queues", CHOICE(tb_queues_words, TB_QUEUES_VOQ), AT_CREDIT(queues),
		TB_KEY_CAME_LATER, "the order in which packets of an input leave"},
	{"network", "flow_control", CHOICE(tb_flow_control_words, TB_FLOW_PAUSE),
		AT_CREDIT(flow_control), TB_KEY_CAME_LATER,
		"what keeps a buffer from overflowing"},
	{"link", "buffer", SIZE(0, 1 << 30), AT_CREDIT(buffer_bytes), TB_KEY_CAME_LATER,
		"buffer of each lane, at the receiving end"},
	{"link", "xoff", SIZE(0, 1 << 30), AT_CREDIT(xoff_bytes), TB_KEY_CAME_LATER,
		"filling of a buffer that pauses its sender"},
	{"link", "flit", SIZE(1, 4096), AT_CIRCUIT(flit_bytes), TB_KEY_CAME_LATER,
		"bytes that cross a link at once"},
	{"link", "link_tokens", REAL, AT_CIRCUIT(link_tokens), TB_KEY_CAME_LATER,
		"bytes of flow control that each byte costs the other direction"},
	{"packet", "first_overhead", SIZE(0, 1 << 16), AT_CREDIT(first_overhead_bytes),
		TB_KEY_CAME_LATER, "bytes that a message's first packet has in addition"},
	{"packet", "ack", SIZE(0, 1 << 16), AT_CREDIT(ack_bytes), TB_KEY_CAME_LATER,
		"bytes of an acknowledgement on the wire"},
	{"node", "bus", RATE, AT_CIRCUIT(bus_bytes_per_s), TB_KEY_NONE_LATER,
		"rate of payload in and out of a node together"},
	MEMORY_ROWS,
	{"node", "pcie", RATE, AT_CREDIT(pcie_bytes_per_s), TB_KEY_NONE_LATER,
		"rate of each direction between node and adapter"},
	{"node", "slice", SIZE(0, 1 << 30), AT_CIRCUIT(slice_bytes), TB_KEY_CAME_LATER,
		"bytes that a message sends before the next one's turn; 0: all"},
	{"node", "ack_delay", TIME(0, TB_PS_PER_S), AT_CIRCUIT(ack_delay_ps),
		TB_KEY_CAME_LATER,
		"time before the destination's acknowledgement leaves"},
	{"node", "inline", SIZE(0, 1 << 30), AT_CREDIT(inline_bytes), TB_KEY_CAME_LATER,
		"bytes of a message that go to the adapter with its description"},
	{"node", "fetch_delay", TIME(0, TB_PS_PER_S), AT_CREDIT(fetch_delay_ps),
		TB_KEY_CAME_LATER, "time until the adapter has those of a longer one"},
	{"node", "queue_pair_gap", TIME(0, TB_PS_PER_S), AT_CREDIT(queue_pair_gap_ps),
		TB_KEY_CAME_LATER,
		"time between messages that begin on one queue pair, at least"},
	{"node", "message_gap", TIME(0, TB_PS_PER_S), AT_CREDIT(message_gap_ps),
		TB_KEY_CAME_LATER, "time between messages that a node begins, at least"},
	{"node", "queue_pairs", CHOICE(tb_queue_pairs_words, TB_QUEUE_PAIRS_MESSAGE),
		AT_CREDIT(queue_pairs), TB_KEY_CAME_LATER,
		"what goes one after another: messages to a node, or none"},
	WINDOW_ROWS(TB_KEY_CAME_LATER),
};

// check_exact refuses a window that is none, or of which no preset gave the packets.
static int check_exact(const struct tb_network_params *params, const char *source,
	struct tb_error *error)
{
	char from[24], to[24];
	if (params->exact_to_ps == 0 && params->exact_from_ps == 0)
		return TB_OK;
	if (params->exact_from_ps >= params->exact_to_ps)
		return tb_fail_in(error, TB_EUSAGE, source,
			"exact_from = %s, exact_to = %s: expected a window that begins "
			"before it ends",
			tb_format_time(params->exact_from_ps, from, sizeof from),
			tb_format_time(params->exact_to_ps, to, sizeof to));
	if (params->stands_for == NUMBER_OF_ethernet)
		return tb_fail_in(error, TB_EUSAGE, source,
			"exact_to = %s: a window of packets needs switching = circuits "
			"or credits, not ethernet",
			tb_format_time(params->exact_to_ps, to, sizeof to));
	return params->fifo_bytes
		       ? TB_OK
		       : tb_fail_in(error, TB_EUSAGE, source,
				 "exact_to = %s: expected behind the name of a network "
				 "of packets, with switching=fluid there too",
				 tb_format_time(params->exact_to_ps, to, sizeof to));
}

// check_fluid: a flow begins and ends at the instants that gaps leave it.
static int check_fluid(const struct tb_network_params *params, const char *source,
	struct tb_error *error)
{
	int status = check_exact(params, source, error);
	return status == TB_OK ? check_gaps(params, source, error) : status;
}

#define KEYS(list) .keys = list, .n_keys = sizeof(list) / sizeof *(list)

static const struct tb_switching_words paused_words = {"virtual lanes",
	"a turn or the end of a pause", "others ahead or the link paused",
	"the link or had it paused", "packets stood ready or paused",
	"Whose packets held the link or had it paused",
	"The link at the end of a chain of pauses", "that wanted the link"};

static const struct tb_switching_kind kinds[] = {
	[NUMBER_OF_circuits] = {.name = "circuits",
		.words = {"virtual channels", "a virtual channel",
			"no free virtual channel", "the virtual channels",
			"a virtual channel was held",
			"Whose packets held the virtual channels",
			"The link at the end of a chain of held channels",
			"arriving over the link"},
		.has_circuits = true,
		.has_broadcasts = true,
		.left_out = "paths held until acknowledged, bus turns, limits on "
			    "partners",
		KEYS(circuits_keys),
		.check = check_circuits},
	[NUMBER_OF_credits] = {.name = "credits",
		.words = {"virtual lanes", "a turn or credits",
			"others ahead or too few credits", "the link or its buffer",
			"packets stood ready",
			"Whose packets held the link or its buffer",
			"The link at the end of a chain of full buffers",
			"that wanted the link"},
		.paused = &paused_words,
		.leads = TB_LEADS_FOR,
		.frame_headers = 58, // Ethernet 14, IPv4 20, UDP 8, BTH 12, ICRC 4
		.has_credits = true,
		.has_queue_pairs = true,
		.has_service_levels = true,
		.has_slow_nodes = true,
		.has_pcie = true,
		.left_out = "virtual lanes, congestion control",
		KEYS(credits_keys),
		.check = check_credits},
	[NUMBER_OF_ethernet] = {.name = "ethernet",
		.words = {"queues", "the link", "frames ahead in the queue", "the queue",
			"frames stood and none crossed",
			"Whose frames stood ahead in the queue",
			"The link before which frames queue", "that wanted the link"},
		.leads = TB_LEADS_FOR,
		.has_pcie = true,
		.has_connections = true,
		.frame_headers = 66, // Ethernet 14, IPv4 20, TCP 32
		.stores = true,
		.left_out = "queues, losses, TCP's timeouts, shapers",
		KEYS(ethernet_keys),
		.check = check_ethernet},
	[NUMBER_OF_fluid] = {.name = "fluid",
		.words = {"channels", "their share of a link",
			"less than a link of their own", "the link",
			"flows had less than they could take",
			"Whose flows shared the link",
			"The link whose share limited flows", "that wanted the link"},
		.leads = TB_LEADS_FOR,
		.stands_for_other = true,
		KEYS(fluid_keys),
		.check = check_fluid},
};
static_assert(sizeof kinds / sizeof *kinds == N_KINDS, "a name without a row");

const char *const tb_wait_lead_words[] = {
	[TB_LEADS_CAME_BY] = "came-by", [TB_LEADS_FOR] = "for", NULL};

const struct tb_switching_kind *tb_switching_kinds(size_t *n)
{
	*n = N_KINDS;
	return kinds;
}

const struct tb_switching_kind *tb_switching_find(const char *name)
{
	for (size_t i = 0; i < N_KINDS; i++)
		if (strcmp(kinds[i].name, name) == 0)
			return &kinds[i];
	return NULL;
}

const struct tb_switching_kind *tb_switching_of(const struct tb_network_params *params)
{
	return params->switching[0] ? tb_switching_find(params->switching) : kinds;
}

const struct tb_switching_kind *tb_switching_nodes(const struct tb_network_params *params)
{
	const struct tb_switching_kind *kind = tb_switching_of(params);
	return kind && kind->stands_for_other ? &kinds[params->stands_for] : kind;
}

uint32_t tb_switching_frame_headers(const struct tb_network_params *params)
{
	const struct tb_switching_kind *kind = tb_switching_nodes(params);
	return kind->has_connections ? (uint32_t)tb_min_u64(kind->frame_headers,
					       params->packet_overhead_bytes)
				     : kind->frame_headers;
}

double tb_switching_captured_share(const struct tb_network_params *params)
{
	double wire =
		(double)params->packet_payload_bytes + params->packet_overhead_bytes;
	uint32_t headers = tb_switching_frame_headers(params);
	return ((double)params->packet_payload_bytes + headers) / wire;
}

bool tb_switching_draws(const struct tb_network_params *params)
{
	const struct tb_switching_kind *kind = tb_switching_of(params);
	bool routes = params->ascent != TB_ASCENT_DETERMINISTIC &&
		      params->ascent != TB_ASCENT_SOURCE &&
		      params->ascent != TB_ASCENT_TABLE;
	bool marks = tb_credit_params(params)->congestion_control == TB_CONGESTION_DCQCN;
	return !kind || kind->stores || routes || marks || params->exact_to_ps > 0;
}

bool tb_switching_spreads(const struct tb_network_params *params)
{
	enum tb_ascent ascent = params->ascent;
	return ascent == TB_ASCENT_RANDOM || ascent == TB_ASCENT_ADAPTIVE ||
	       ascent == TB_ASCENT_ADAPTIVE_LOWEST ||
	       ascent == TB_ASCENT_ADAPTIVE_ROUND_ROBIN;
}

// How far flows are off packets on average, in %, by the switching that they stand for:
// of random programs, and of patterns, with the worst of these (docs/fluid.md, measured
// by tests/property/replay_fluid.c and tests/measured/fluid.py). It holds up to 3 % in
// run time and 5 % of a flow.
struct fluid_error {
	unsigned nodes;
	bool pauses, spreads; // its links; packets over ways
	double run, flow, of_patterns, flow_of_patterns, worst;
};

static const struct fluid_error fluid_errors[] = {
	{NUMBER_OF_credits, false, false, 0.7, 2, 1.1, 0.8, 7},
	{NUMBER_OF_credits, false, true, 1.2, 5, 4.5, 4.5, 69},
	{NUMBER_OF_credits, true, false, 0.8, 2.6, 1.5, 2.7, 11},
	{NUMBER_OF_credits, true, true, 2.4, 5.6, 5.1, 5.6, 68},
	{NUMBER_OF_circuits, false, false, 2.9, 6.2, 3.1, 5.6, 49},
	{NUMBER_OF_circuits, false, true, 2.9, 6.3, 8.6, 10, 62},
	{NUMBER_OF_ethernet, false, false, 5, 21, 7.2, 20, 85},
	{NUMBER_OF_ethernet, false, true, 22, 29, 33, 26, 95},
};

static const struct fluid_error *fluid_error_of(const struct tb_network_params *params)
{
	bool spreads = tb_switching_spreads(params);
	bool pauses = tb_switching_nodes(params)->paused &&
		      tb_credit_params(params)->flow_control == TB_FLOW_PAUSE;
	const struct fluid_error *error = fluid_errors;
	while (error->nodes != params->stands_for || error->spreads != spreads ||
		error->pauses != pauses)
		error++;
	return error;
}

char *tb_switching_caution(
	const struct tb_network_params *params, char *buffer, size_t size)
{
	const struct tb_switching_kind *kind = tb_switching_of(params);
	char from[24], to[24], but[64] = "";
	buffer[0] = '\0';
	if (!kind || !kind->stands_for_other)
		return buffer;
	if (params->exact_to_ps)
		snprintf(but, sizeof but, " but from %s to %s",
			tb_format_time(params->exact_from_ps, from, sizeof from),
			tb_format_time(params->exact_to_ps, to, sizeof to));
	const struct fluid_error *error = fluid_error_of(params);
	bool holds = error->run <= 3 && error->flow <= 5 && error->of_patterns <= 3 &&
		     error->flow_of_patterns <= 5;
	snprintf(buffer, size,
		" (%s%s%s: run time %g %% off packets on average, flows %g %%; on "
		"patterns %g and %g %%, up to %g %%)",
		kind->name, but, holds ? "" : ", not reliable here", error->run,
		error->flow, error->of_patterns, error->flow_of_patterns, error->worst);
	return buffer;
}

const struct tb_switching_words *tb_switching_words(
	const struct tb_network_params *params)
{
	const struct tb_switching_kind *kind = tb_switching_of(params);
	if (!kind)
		return NULL;
	return kind->paused && tb_credit_params(params)->flow_control == TB_FLOW_PAUSE
		       ? kind->paused
		       : &kind->words;
}

size_t tb_switching_keys(const struct tb_switching_kind *kind,
	struct tb_preset_key keys[TB_PARAMETERS_MOST])
{
	size_t n = tb_preset_n_keys, n_added = kind ? kind->n_keys : 0;
	assert(n + n_added <= TB_PARAMETERS_MOST);
	memcpy(keys, tb_preset_keys, n * sizeof *keys);
	if (n_added)
		memcpy(keys + n, kind->keys, n_added * sizeof *keys);
	return n + n_added;
}
