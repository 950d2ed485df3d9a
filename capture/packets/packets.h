// A packet trace: what was on the wire, as endpoints and sizes in the order of time, from
// capture files (pcap, pcapng; plain or compressed) or standard input, decoded and
// cleaned.
//
// Model: the records of all inputs are merged by time stamp and put in order by a window
// of 2 ms (reorder.h), decoded to endpoints (frame.h says which frame has which), freed
// of what belongs to the old network: copies of one frame seen at several points
// (dedup.h), retransmitted ranges and pure acknowledgements of TCP and of InfiniBand's
// reliable connections (seq_ranges.h, connections.h). Frames that a network card was
// still to segment are cut into those that were on the wire, each with its own headers:
// at the MSS that both ends announced, else at the largest full-sized segment seen, else
// at an MTU of 1500. The endpoints become nodes (by a map, or sorted), and captured time
// becomes the trace's.
//
// Nodes without a map: the endpoints of the first 131,072 records that are to be replayed
// are numbered in the order of their addresses, IPv4 before IPv6, MAC, LID and GID; those
// that come up later follow as they come. Only endpoints that take part in a packet get a
// node.
//
// Memory grows with endpoints and pairs of nodes, never with the length of the capture:
// windows and connection tables are bounded. Cost: at least half the rate at which
// libpcap alone reads an uncompressed capture (tests/bench/capture_import.c).
//
// Order: packets come with non-decreasing `at_ps`; `at_ps` of the first is 0; frames that
// were cut from one record share their time. The same inputs and options give the same
// packets. One thread at a time per object.
#ifndef TB_PACKETS_H
#define TB_PACKETS_H

#include "frame_type.h"
#include "ids.h"
#include "status.h"
#include "units.h"

#include <stdbool.h>
#include <stdio.h>

enum tb_choice { TB_AUTO, TB_YES, TB_NO };

// A longer gap is no idleness but two captures in one file, or a clock that was set: it
// always shrinks, to a second.
#define TB_PACKETS_GAP_MAX (86400 * TB_PS_PER_S)

struct tb_map_file; // map_file.h

struct tb_packets_options {
	// AUTO: on for `any` captures, pcapng and more than one input; a frame is a copy
	// only if another point saw it first. YES: wherever it was seen, for mirror ports
	// that give each frame twice.
	enum tb_choice dedup;
	bool keep_retransmissions;
	bool keep_acks;		 // pure acknowledgements
	tb_time_ps squeeze_idle; // gaps without packets longer than this shrink to it,
				 // before time is scaled; 0: off
	double time_scale;	 // captured time times this; 0 reads as 1
	uint32_t n_nodes_max; // endpoints beyond it are counted, not placed; 0: no limit
	const char *map_file; // endpoint to node (and node to job); NULL: stable order
	const struct tb_map_file *map; // the same, made already and borrowed; not both
	const char
		*job_name; // the job of nodes that the map does not name; NULL: "trace"
};

// One frame as it was on the wire of the captured network, between two placed endpoints.
struct tb_packet {
	tb_time_ps at_ps;
	struct tb_node source;
	struct tb_node destination;
	uint32_t wire_bytes;	// link-layer frame length, without preamble and FCS
	uint32_t payload_bytes; // what the transport carried for its user
	uint32_t job;		// the source's; index below tb_packets_n_jobs
};

struct tb_packets; // opaque

// tb_packets_open opens `n` inputs ("-" is standard input). TB_EFOREIGN when an input is
// no capture at all, TB_EFORMAT when its header is broken, TB_EUSAGE for options or map
// files that make no sense. `options` may be NULL for the defaults.
int tb_packets_open(struct tb_packets **packets, const char *const *paths, size_t n,
	const struct tb_packets_options *options, struct tb_error *error) TB_MUST_USE;
void tb_packets_free(struct tb_packets *packets);

// tb_packets_next gives the next packet: 1, 0 at the end, or negative. A capture that
// ends in mid-packet gives all whole packets, then TB_EFORMAT with the record's number.
int tb_packets_next(struct tb_packets *packets, struct tb_packet *packet,
	struct tb_error *error) TB_MUST_USE;

// What was seen so far; complete after the end. Each record that was read is then in
// exactly one of n_replayed_records and the nine counts after it, so nothing is silently
// lost; the counts from n_reordered on tell more about records that are in those.
struct tb_packets_summary {
	uint64_t n_records;	     // records read from all inputs
	uint64_t n_packets;	     // given out, after cutting offloaded frames
	uint64_t n_replayed_records; // records that gave those packets
	uint64_t n_duplicates;	     // the same frame seen at another point
	uint64_t n_retransmissions;  // retransmitted ranges dropped
	uint64_t n_acks;	     // pure acknowledgements dropped
	uint64_t n_broadcast;	     // broadcast frames, not replayed
	uint64_t n_multicast;	     // multicast frames, not replayed
	uint64_t n_non_ip;	// ARP, neighbour discovery, LLDP, PFC: the links' own
	uint64_t n_undecodable; // too short or broken within, not replayed
	uint64_t n_local;	// source and destination on one node, not replayed
	uint64_t n_unplaced;	// an endpoint beyond n_nodes_max or not in the map
	uint64_t n_reordered;	// records found out of time order and put right
	uint64_t n_late;	// records later than the window, stamped with its edge
	uint64_t n_offloaded;	// records longer than the segment size, cut
	uint64_t n_truncated;	// records with captured length below wire length
	uint64_t wire_bytes;	// of packets given out
	uint64_t payload_bytes;
	uint32_t n_endpoints; // placed
	uint32_t n_endpoints_unplaced;
	uint32_t n_nodes;	    // highest node given out + 1
	uint64_t n_pairs;	    // ordered pairs of nodes with packets
	int64_t first_at_ns;	    // when the first packet was captured, since the epoch
	tb_time_ps duration_ps;	    // last packet's at_ps
	tb_time_ps squeezed_ps;	    // idle time taken out; TB_TIME_NEVER: more
	tb_time_ps peak_reorder_ps; // largest step back in time seen
};

const struct tb_packets_summary *tb_packets_summary(const struct tb_packets *packets);

// tb_packets_fraction is how much of the inputs has been read, in [0, 1]; negative when
// the size is not known.
double tb_packets_fraction(const struct tb_packets *packets);

// tb_packets_node_name is the endpoint that became `node` ("10.77.0.1"; the first one,
// when a map makes several one node), "" when none did; it lives until the next call of
// tb_packets_next. tb_packets_job_name likewise. Jobs are known once the trace is open.
const char *tb_packets_node_name(const struct tb_packets *packets, struct tb_node node);
uint32_t tb_packets_n_jobs(const struct tb_packets *packets);
const char *tb_packets_job_name(const struct tb_packets *packets, uint32_t job);

// tb_packets_job_of is the job that `node` works for.
uint32_t tb_packets_job_of(const struct tb_packets *packets, struct tb_node node);

// tb_packets_look_ahead reads the records by which endpoints are numbered, if that was
// not done: the summary then has the nodes of all but very long captures. What reading
// met is told by tb_packets_next; TB_ENOMEM.
int tb_packets_look_ahead(struct tb_packets *packets, struct tb_error *error) TB_MUST_USE;

// tb_packets_limit_nodes sets n_nodes_max for the endpoints that come from now on; no
// less than the nodes given out.
void tb_packets_limit_nodes(struct tb_packets *packets, uint32_t n_nodes_max);

// Records in which no network addresses were reached, by the type at which the decoding
// ended; in the order of first appearance, `i` counts from 0, NULL from the last on. The
// sum of the first list is n_non_ip, that of the second n_undecodable.
enum tb_packets_list {
	TB_LIST_CONTROL,
	TB_LIST_UNDECODABLE,
	TB_LIST_BETWEEN_MACS, // replayed, unless cleaning drops them
};

#define TB_N_LISTS 3

struct tb_packets_type {
	struct tb_frame_type type; // TB_REGISTRY_OTHERS: all beyond the first 15
	uint64_t n_records;
};

const struct tb_packets_type *tb_packets_type(
	const struct tb_packets *packets, enum tb_packets_list list, uint32_t i);

// tb_packets_unplaced_name names one of the first endpoints without a node; NULL from the
// last on.
const char *tb_packets_unplaced_name(const struct tb_packets *packets, uint32_t i);

// Wire and payload bytes by ordered pair of nodes, so far. `pair` counts from 0 below
// n_pairs, in the order of first appearance.
struct tb_packets_pair {
	struct tb_node source;
	struct tb_node destination;
	uint64_t n_packets;
	uint64_t wire_bytes;
	uint64_t payload_bytes;
};

const struct tb_packets_pair *tb_packets_pair(
	const struct tb_packets *packets, uint64_t pair);

// tb_packets_load says what share of the network's injection capacity (n_nodes times
// node_bytes_per_s) the whole trace asks for on average, and at its busiest node;
// `half_scale` is the time scale that would load the busiest node to a half. 0 for an
// empty trace.
struct tb_packets_load {
	double mean_share;
	double busiest_share;
	struct tb_node busiest;
	double half_scale; // relative to captured time, whatever time_scale was used
};

struct tb_packets_load tb_packets_load(
	const struct tb_packets *packets, double node_bytes_per_s);

#endif
