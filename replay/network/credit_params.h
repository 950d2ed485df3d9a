// What networks of the switching `credits` are made of beyond rates and latencies: how
// switches queue and arbitrate, how a link holds its sender back, and what a host channel
// adapter adds.
//
// The rules are those of docs/credits.md. Of struct tb_network_params, `n_vcs` is the
// number of virtual lanes (VLs), `fifo_bytes` the buffer of each at the receiving end of
// a link. Texts of tables stand here as presets write them, numbers apart by blanks; a
// reader makes arrays of them.
#ifndef TB_CREDIT_PARAMS_H
#define TB_CREDIT_PARAMS_H

#include "network_params.h"
#include "status.h"

#include <assert.h>

// In which order the packets of one input and VL leave.
enum tb_queues {
	TB_QUEUES_FIFO, // that of arrival: a head that waits holds up those behind it
	TB_QUEUES_VOQ,	// that of arrival by output: virtual output queues
};

// When a switch may send a packet on.
enum tb_forwarding {
	TB_FORWARDING_CUT_THROUGH, // once its header is routed
	TB_FORWARDING_STORE,	   // once all of it is in
};

// What keeps a buffer from overflowing.
enum tb_flow_control {
	TB_FLOW_CREDITS, // a packet leaves when the buffer ahead has room for all of it
	TB_FLOW_PAUSE,	 // a buffer filled to `xoff` stops its sender by priority
};

// What takes turns, packet by packet, at a node that sends.
enum tb_queue_pairs {
	TB_QUEUE_PAIRS_CONNECTION, // destinations: messages to one go in their order
	TB_QUEUE_PAIRS_MESSAGE,	   // messages
};

// What makes senders slower where queues are long.
enum tb_congestion_control {
	TB_CONGESTION_NONE,
	TB_CONGESTION_DCQCN, // marks, notifications and rates (Zhu et al., 2015)
	TB_CONGESTION_FECN,  // marks, notifications, delays by a table (IBTA, A10)
};

// Which links out of switches mark packets though they lack credits (Victim_Mask).
enum tb_fecn_victims {
	TB_FECN_VICTIMS_NONE,
	TB_FECN_VICTIMS_NODES, // those to nodes
	TB_FECN_VICTIMS_ALL,
};

#define TB_FECN_THRESHOLD_MOST 15   // marks soonest; 0: never
#define TB_CCTI_MOST	       1023 // indices of the congestion control table
#define TB_CCT_MULTIPLIER_MOST 16383

#define TB_VLS_MOST	      15  // data lanes; lane 15 is the subnet manager's
#define TB_SLS		      16  // service levels
#define TB_ARBITRATION_MOST   64  // entries of an arbitration table (IBTA 7.6.9)
#define TB_VL_LIMIT_NONE      255 // high priority may always go first (IBTA 7.6.9)
#define TB_VL_WEIGHT_BYTES    64  // that a weight of 1 stands for
#define TB_VL_LIMIT_BYTES     4096
#define TB_CREDIT_BLOCK_BYTES 64 // in which buffers are counted
#define TB_GAPS_MOST	      256

#define TB_VL_TABLE_TEXT 512
#define TB_SL_TEXT	 64

struct tb_credit_params {
	enum tb_queues queues;
	uint32_t input_speedup; // packets that an input sends at once into the crossbar;
				// 0: any number
	enum tb_forwarding forwarding;
	enum tb_flow_control flow_control;
	uint32_t xoff_bytes, xon_bytes; // per VL; pause alone
	uint32_t buffer_bytes;		// of a fluid, else `fifo_bytes`
	// Arbitration: "VL:WEIGHT VL:WEIGHT ...", "none", or "even", each lane in turn
	// for a weight of 64; "" is none of high and even of low priority.
	char vl_high[TB_VL_TABLE_TEXT], vl_low[TB_VL_TABLE_TEXT];
	uint32_t vl_limit; // of high priority, before low gets a turn, in 4096 bytes;
			   // TB_VL_LIMIT_NONE: no limit
	// VLs by service level, from 0 on: "0 1 2"; "modulo", or "": the service level
	// modulo the lanes. Service levels beyond the last have its VL.
	char sl_to_vl[TB_SL_TEXT];
	uint32_t first_overhead_bytes; // that a message's first packet has in addition
	uint32_t ack_bytes;	       // of an acknowledgement, on the wire
	uint64_t pcie_bytes_per_s;     // of each direction at a node at once; 0: no limit
	enum tb_queue_pairs queue_pairs;
	enum tb_congestion_control congestion_control;
	uint32_t ecn_min_bytes, ecn_max_bytes; // queues that begin to mark, mark all
	double ecn_probability;		       // of a mark at ecn_max
	tb_time_ps cnp_interval_ps;	       // between notifications of a pair of nodes
	tb_time_ps rate_timer_ps;	       // between steps of a rate
	uint32_t rate_bytes;		       // likewise
	uint64_t rate_step_bytes_per_s;
	// Between the beginnings of two messages: of two processes, of an adapter (C38).
	// With the former the latter is at least 1 / TB_GAPS_MOST of it.
	tb_time_ps queue_pair_gap_ps, message_gap_ps;
	// What passes until an adapter has the data of a message of more bytes (C39).
	tb_time_ps fetch_delay_ps;
	uint32_t inline_bytes;
	uint32_t fecn_threshold;   // 0 to TB_FECN_THRESHOLD_MOST
	uint32_t fecn_packet_size; // of the shortest packets marked, in blocks
	uint32_t marking_rate;	   // packets between two that are marked
	enum tb_fecn_victims fecn_victims;
	// Of the congestion control table, and its index.
	uint32_t ccti_increase, ccti_limit, ccti_min;
	tb_time_ps ccti_timer_ps; // after which an index falls by one
	uint32_t cct_shift;
	double cct_square;	       // multiplier by the square of the index
	uint32_t xmit_wait_tick_bytes; // of the port's time in a tick of PortXmitWait; 0:
				       // it has no such counter
};

static_assert(sizeof(struct tb_credit_params) <= TB_CREDIT_ROOM, "larger room");

// tb_credit_params are those of a network; they live as long as `params`.
static inline const struct tb_credit_params *tb_credit_params(
	const struct tb_network_params *params)
{
	return (const struct tb_credit_params *)(const void *)params->credit_room;
}

// tb_credit_params_mutable likewise, to be changed.
static inline struct tb_credit_params *tb_credit_params_mutable(
	struct tb_network_params *params)
{
	return (struct tb_credit_params *)(void *)params->credit_room;
}

// Their words in presets; NULL behind the last.
extern const char *const tb_queues_words[];
extern const char *const tb_forwarding_words[];
extern const char *const tb_flow_control_words[];
extern const char *const tb_queue_pairs_words[];
extern const char *const tb_congestion_control_words[];
extern const char *const tb_fecn_victims_words[];

// tb_fetch_delay_ps is how long the data of a message to another node take to be at the
// adapter (C39).
static inline tb_time_ps tb_fetch_delay_ps(
	const struct tb_credit_params *credits, uint64_t bytes)
{
	return bytes > credits->inline_bytes ? credits->fetch_delay_ps : 0;
}

// tb_xmit_wait_ticks is what a port's counter PortXmitWait shows after its link has been
// stalled for so long: ticks of `xmit_wait_tick_bytes` of the port's time; 0 without such
// a counter.
uint64_t tb_xmit_wait_ticks(
	const struct tb_credit_params *credits, uint64_t stall_ps, uint64_t bytes_per_s);

struct tb_vl_table {
	uint32_t n; // entries, 0 to TB_ARBITRATION_MOST
	struct {
		uint8_t vl, weight; // weight in TB_VL_WEIGHT_BYTES; 0: skipped
	} at[TB_ARBITRATION_MOST];
};

// tb_vl_table_read reads an arbitration table for lanes 0 to n_vls - 1; numbers stand
// apart by blanks or commas. TB_EUSAGE for anything else; "" is as "even" when
// `otherwise_even`, else as "none".
int tb_vl_table_read(struct tb_vl_table *table, const char *text, uint32_t n_vls,
	bool otherwise_even) TB_MUST_USE;

// tb_sl_to_vl_read fills the VL of each service level, each below n_vls; likewise.
int tb_sl_to_vl_read(uint8_t vls[TB_SLS], const char *text, uint32_t n_vls) TB_MUST_USE;

#endif
