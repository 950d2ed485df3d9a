// Counters of ports, as the tools of a live fabric print them.
//
// Model: a dump is what was printed at one time, in one file or in a folder of files:
// for each port a set of counters, all counted since somebody reset them. Formats are
// recognised by what a line begins with, so that several may follow each other in a file:
//
//   perfquery [-x]                 "# Port extended counters: Lid 7 port 3 (...)"
//   ibqueryerrors --data --details "   GUID 0x... port 3: [PortXmitWait == 12] ..."
//   ibdiagnet2.pm                  "Port=3 Lid=0x07 GUID=0x... Device=... Port Name=..."
//   ibdiagnet2.db_csv              "START_PM_INFO", a heading, a line a port
//   UFM's CSV                      a heading with GUID, port and names of counters
//   Prometheus text                infiniband_exporter, node_exporter
//   ethtool -S                     "NIC statistics:", or its lines alone
//   SONiC                          show interfaces counters, show pfc counters
//                                  [--history], show pfcwd stats
//
// Formats that do not name the device take the name of the file without its folder and
// ending, or that of a line "==> NAME <==", as `tail -n +1` prints it: of a switch its
// name, of a host HOST:INTERFACE (node_exporter: HOST).
//
// Sources: infiniband-diags (perfquery.c, ibqueryerrors.c), InfiniBand Architecture
// Specification vol. 1, section 16.1.3 (the counters); kernel, mlx5 counters (ethtool);
// sonic-utilities (portstat, pfcstat).
#ifndef TB_COUNTERS_H
#define TB_COUNTERS_H

#include "map.h"
#include "status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

// The end of a link that a counter is about: what the port sends, or what it receives.
enum tb_counter_side { TB_COUNTS_SENT, TB_COUNTS_RECEIVED };
enum tb_counter_class { TB_COUNTS_TRAFFIC, TB_COUNTS_ERRORS, TB_COUNTS_SIGNS };

// ROW(ID, side, class, key, noun): key in the store; noun "singular|plural".
#define TB_COUNTERS(ROW)                                                                 \
	ROW(SENT_BYTES, SENT, TRAFFIC, "sent_bytes", "byte sent|bytes sent")             \
	ROW(RECEIVED_BYTES, RECEIVED, TRAFFIC, "received_bytes",                         \
		"byte received|bytes received")                                          \
	ROW(SENT_PACKETS, SENT, TRAFFIC, "sent_packets", "packet sent|packets sent")     \
	ROW(RECEIVED_PACKETS, RECEIVED, TRAFFIC, "received_packets",                     \
		"packet received|packets received")                                      \
	ROW(WAIT_TICKS, SENT, TRAFFIC, "xmit_wait_ticks",                                \
		"tick of PortXmitWait|ticks of PortXmitWait")                            \
	ROW(PAUSED_US, SENT, TRAFFIC, "paused_us", "us paused|us paused")                \
	ROW(PAUSING_US, RECEIVED, TRAFFIC, "pausing_us",                                 \
		"us of pausing the other end|us of pausing the other end")               \
	ROW(PAUSES_RECEIVED, SENT, SIGNS, "pauses_received",                             \
		"pause frame received|pause frames received")                            \
	ROW(PAUSES_SENT, RECEIVED, SIGNS, "pauses_sent",                                 \
		"pause frame sent|pause frames sent")                                    \
	ROW(STORMS, SENT, SIGNS, "pause_storms", "pause storm|pause storms")             \
	ROW(STORMS_SENT, RECEIVED, SIGNS, "pause_storms_sent",                           \
		"pause storm sent|pause storms sent")                                    \
	ROW(ECN_MARKED, RECEIVED, SIGNS, "ecn_marked",                                   \
		"packet marked by ECN|packets marked by ECN")                            \
	ROW(LINK_DOWNED, RECEIVED, ERRORS, "link_downed",                                \
		"time that the link went down|times that the link went down")            \
	ROW(SYMBOL_ERRORS, RECEIVED, ERRORS, "symbol_errors",                            \
		"symbol error|symbol errors")                                            \
	ROW(RECOVERIES, RECEIVED, ERRORS, "link_error_recoveries",                       \
		"link error recovery|link error recoveries")                             \
	ROW(INTEGRITY, RECEIVED, ERRORS, "local_link_integrity_errors",                  \
		"local link integrity error|local link integrity errors")                \
	ROW(RECEIVE_ERRORS, RECEIVED, ERRORS, "receive_errors",                          \
		"receive error|receive errors")                                          \
	ROW(REMOTE_PHYSICAL, RECEIVED, ERRORS, "receive_remote_physical_errors",         \
		"packet that arrived marked bad|packets that arrived marked bad")        \
	ROW(SEND_DISCARDS, SENT, ERRORS, "transmit_discards",                            \
		"packet discarded before sending|packets discarded before sending")      \
	ROW(RECEIVE_DISCARDS, RECEIVED, ERRORS, "receive_discards",                      \
		"packet discarded after receiving|packets discarded after receiving")    \
	ROW(OVERRUNS, RECEIVED, ERRORS, "buffer_overruns",                               \
		"buffer overrun|buffer overruns")                                        \
	ROW(SEND_ERRORS, SENT, ERRORS, "transmit_errors",                                \
		"transmit error|transmit errors")                                        \
	ROW(RELAY_ERRORS, RECEIVED, ERRORS, "receive_switch_relay_errors",               \
		"packet that the switch could not forward|"                              \
		"packets that the switch could not forward")                             \
	ROW(SEND_CONSTRAINT, SENT, ERRORS, "transmit_constraint_errors",                 \
		"transmit constraint error|transmit constraint errors")                  \
	ROW(RECEIVE_CONSTRAINT, RECEIVED, ERRORS, "receive_constraint_errors",           \
		"receive constraint error|receive constraint errors")                    \
	ROW(VL15_DROPPED, RECEIVED, ERRORS, "vl15_dropped",                              \
		"management packet dropped|management packets dropped")

#define TB_COUNTER_ID(ID, ...) TB_COUNTER_##ID,
enum tb_counter { TB_COUNTERS(TB_COUNTER_ID) TB_N_COUNTERS };
#undef TB_COUNTER_ID

struct tb_counter_info {
	enum tb_counter_side side;
	enum tb_counter_class class;
	const char *key, *noun;
};

// By enum tb_counter.
extern const struct tb_counter_info tb_counter_infos[TB_N_COUNTERS];

#define TB_COUNTER_CLASSES 9

// A counter that is not read, though by its name it tells of loss or congestion: what it
// came to over all ports.
struct tb_counter_unread {
	char name[48];
	uint64_t sum;
};
#define TB_COUNTERS_UNREAD_MOST 64

// A port, named by what its format names: by GUID, else by LID, else by device.
struct tb_counter_port {
	uint64_t guid;	// of the node or of the port; 0: none
	uint32_t lid;	// 0: none
	char *device;	// a switch, a host, or both ("n10 mlx5_0"); "" when not named
	char *port;	// its number or the interface; "" when not named
	uint32_t known; // counters that there are: bit 1 << enum tb_counter
	uint64_t values[TB_N_COUNTERS]; // bytes, packets, ticks, microseconds, counts
	uint64_t ends[TB_N_COUNTERS];	// where each counts no further
	// Of TB_COUNTER_PAUSED_US and _PAUSING_US, by priority; the last is of all at
	// once.
	uint64_t class_us[2][TB_COUNTER_CLASSES];
	uint32_t formats; // private: that have described it
};

struct tb_counters {
	struct tb_counter_port *ports; // in the order of the dump
	size_t n, room;
	bool has_time;
	int64_t time_us; // when it was printed, since 1970, UTC
	uint64_t n_bytes;
	struct tb_counter_unread unread[TB_COUNTERS_UNREAD_MOST];
	uint32_t n_unread;
	struct tb_map of_key; // private
	uint32_t n_sections;  // private
};

// tb_counters_read reads the dump at `path`, a file or a folder of files, plain or
// compressed ("-": standard input). A time is that of a sample (Prometheus, UFM), or in a
// comment ("# 2026-11-27T10:00:00Z"); the first of the dump counts. TB_EIO; TB_EFORMAT
// for a value that is none, a port that stands there twice, a file that ends within a
// line, or nothing that is known; TB_ECAPACITY beyond 2^20 ports. Cost: linear; memory
// 600 bytes a port. tb_counters_fini frees; a zeroed struct is empty.
int tb_counters_read(struct tb_counters *counters, const char *path,
	struct tb_error *error) TB_MUST_USE;
void tb_counters_fini(struct tb_counters *counters);

// tb_counters_add adds what is in a stream, a file called `name`, to a dump. Errors as
// above, but for nothing that is known; then the dump has what was read before the error.
int tb_counters_add(struct tb_counters *counters, FILE *stream, const char *name,
	struct tb_error *error) TB_MUST_USE;

// tb_counters_find finds the port that is named as one of another dump; NULL when there
// is none. Expected constant cost.
const struct tb_counter_port *tb_counters_find(
	const struct tb_counters *counters, const struct tb_counter_port *named);

// tb_counter_port_text writes what a port is called in the dump: "GUID 0x... port 3",
// "LID 7 port 3", "n03:eth2". Returns `buffer`.
char *tb_counter_port_text(const struct tb_counter_port *port, char *buffer, size_t size);

#endif
