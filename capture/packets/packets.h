// A packet trace: who sent how many bytes to whom, in the order of time, decoded and
// cleaned from capture files (pcap, pcapng; plain or compressed) or standard input.
//
// Model: the records of all inputs are merged by time stamp, sorted within a window of 2
// ms, behind which a stretch of a clock that stepped back begins (clean.h), and decoded
// to their endpoints (frame.h). What belongs to the captured network is dropped: copies
// of a frame seen at several points (clean.h), and retransmissions and pure
// acknowledgements of TCP and of InfiniBand's reliable connections (clean.h, clean.h).
// Frames that were captured before a network card segmented them are cut into the frames
// on the wire, each with its own headers: at the MSS that both ends announced, else at
// the largest full-sized segment seen, else at an MTU of 1500. Endpoints become nodes, by
// a map or sorted by address, and captured time becomes the trace's time.
//
// Nodes without a map: the endpoints of the first 131,072 records to be replayed are
// numbered in the order of their addresses, IPv4 before IPv6, MAC, LID and GID; later
// endpoints follow in the order of appearance. Only endpoints of replayed packets get a
// node.
//
// Memory grows with the endpoints and pairs of nodes, never with the length of the
// capture: windows and connection tables are bounded. Speed: at least half the rate at
// which libpcap alone reads an uncompressed capture (tests/bench/capture_import.c).
//
// Order: `at_ps` of packets never decreases and begins at 0; frames cut from one record
// have the same time. The same inputs and options give the same packets. One thread at a
// time per object.
#ifndef TB_PACKETS_H
#define TB_PACKETS_H

#include "congestion.h"
#include "frame_type.h"
#include "ids.h"
#include "instant.h"
#include "status.h"
#include "tcp_analysis.h"
#include "units.h"

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>

enum tb_packets_choice { TB_AUTO, TB_YES, TB_NO };

// A gap longer than this means two captures in one file or a clock that was set. It
// always shrinks to a second.
#define TB_PACKETS_GAP_MAX (86400 * TB_PS_PER_S)

struct tb_map_file; // map_file.h

struct tb_opened_input; // infile.h

struct tb_packets_options {
	// Drop copies of frames. AUTO: for `any` captures, pcapng and several inputs, if
	// another point saw the frame first. YES: in any case, even if one point saw
	// both; for mirror ports that send each frame twice.
	enum tb_packets_choice dedup;
	bool keep_retransmissions;
	bool keep_acks;		 // pure acknowledgements
	tb_time_ps squeeze_idle; // longer gaps between packets shrink to this, before
				 // time is scaled; 0: off
	double time_scale;	 // factor for captured time; 0 means 1
	// Only what was captured between these instants, both inclusive, is returned;
	// connections are followed from the beginning of the capture on.
	struct tb_instant from;
	struct tb_instant to;
	bool lenient; // a damaged capture ends before the damage (is_cut in the summary)
	// Each record is one of so many packets, of which the others were not captured:
	// it is replayed as often, spread over time. 0: as sFlow states, else
	// 1. sFlow's own rates come first.
	uint32_t sampled;
	uint32_t n_nodes_max; // further endpoints are counted, not placed; 0: no limit
	// Endpoint to node, and node to job: a file, or a map that is borrowed; not both.
	const char *map_file; // NULL: number nodes in the order of addresses
	const struct tb_map_file *map;
	// Reading fails with TB_ESTOPPED once it is set; NULL: never.
	const volatile sig_atomic_t *stop;
	const char *job_name; // job of nodes to which the map gives none; NULL: "trace"
	struct tb_opened_input *opened; // the first capture, which is taken; NULL: none
	// What is inferred may lie in files in the folder of this one; NULL: in memory.
	const char *beside;
};

// One frame as it was on the wire of the captured network, between two placed endpoints.
struct tb_captured_packet {
	tb_time_ps at_ps;
	struct tb_node source;
	struct tb_node destination;
	uint32_t wire_bytes;	// link-layer frame length, without preamble and FCS
	uint32_t payload_bytes; // carried by the transport for its user
	uint32_t job;		// of the source; below tb_packets_n_jobs
};

// One record of the capture, not cut, with what its transport says, for those who look
// at connections. Endpoints are those of the packets that are cut from it.
struct tb_packet_record {
	int64_t at_ns; // since the epoch at first, but for gaps that shrank
	struct tb_node source;
	struct tb_node destination;
	uint32_t wire_bytes;
	uint32_t payload_bytes;
	uint32_t full_bytes;   // TCP: payload of a full segment; 0: not known
	uint32_t channel;      // TCP, UDP: both ports; RC: the destination's queue pair
	uint32_t sequence;     // TCP: of the first byte; RC: of the packet
	uint32_t acknowledged; // TCP: the next byte that its sender expects
	uint8_t transport;     // enum tb_transport (frame.h)
	uint8_t flags;	       // TB_TCP_..., TB_RC_... (frame.h)
	bool acknowledgement;  // a pure one: with `keep_acks`
	bool response;	       // RC: numbered like the requester
	bool repeated;	       // all of it was sent before: with `keep_retransmissions`
	struct tb_tcp_events tcp; // TCP, with `keep_acks`: what the analysis found
};

struct tb_packets; // opaque

// tb_packets_open opens `n` inputs ("-" is standard input). `options` may be NULL for the
// defaults. TB_EFOREIGN when an input is not a capture, TB_EFORMAT when its header is
// broken, TB_EUSAGE for options or map files that make no sense.
int tb_packets_open(struct tb_packets **packets, const char *const *paths, size_t n,
	const struct tb_packets_options *options, struct tb_error *error) TB_MUST_USE;
void tb_packets_free(struct tb_packets *packets);

// tb_packets_next returns the next packet: 1, 0 at the end, or negative. A capture that
// ends in mid-packet yields all whole packets, then TB_EFORMAT with the record's number.
// TB_EUSAGE at the end of a capture of which no packet is within `from` and `to`,
// TB_EFORMAT of one that holds none.
int tb_packets_next(struct tb_packets *packets, struct tb_captured_packet *packet,
	struct tb_error *error) TB_MUST_USE;

// tb_packets_next_record returns the next record instead: 1, 0 at the end, or negative.
// Use it or tb_packets_next on one object, not both.
int tb_packets_next_record(struct tb_packets *packets, struct tb_packet_record *record,
	struct tb_error *error) TB_MUST_USE;

// Counts so far, complete after the end. Then each record is counted in exactly one of
// n_replayed_records and the ten counts after it, so nothing is lost silently; the
// counts from n_reordered on describe the same records in other respects.
struct tb_packets_summary {
	uint64_t n_records;	     // records read from all inputs
	uint64_t n_packets;	     // returned, after cutting offloaded frames
	uint64_t n_replayed_records; // records from which those packets came
	uint64_t n_duplicates;	     // the same frame seen at another point
	uint64_t n_retransmissions;  // retransmitted ranges dropped
	uint64_t n_acks;	     // pure acknowledgements dropped
	uint64_t n_broadcast;	     // broadcast frames, not replayed
	uint64_t n_multicast;	     // multicast frames, not replayed
	uint64_t n_non_ip;	// link protocols: ARP, neighbour discovery, LLDP, PFC
	uint64_t n_undecodable; // cut off, broken or of an unknown type, not replayed
	uint64_t n_local;	// source and destination on one node, not replayed
	uint64_t n_unplaced;	// an endpoint beyond n_nodes_max or not in the map
	uint64_t n_outside;	// captured before `from` or after `to`
	uint64_t n_reordered;	// records found out of the order of time, and sorted
	uint64_t n_late;	// records older than the window, stamped with its edge
	uint64_t n_offloaded;	// records longer than the segment size, cut
	uint64_t n_truncated;	// records captured shorter than on the wire
	uint64_t n_sliced;  // cut before they were captured, with the sizes of headers
	uint64_t n_sflow;   // datagrams of sFlow that are replayed themselves
	uint64_t n_sampled; // records that stand for several packets each
	uint32_t sampled_least, sampled_most; // how many; 0: none does
	uint64_t n_untimed;	// records without a time, put at that of the one before
	uint64_t n_clock_steps; // steps back of the clock, each of which begins a stretch
	uint64_t wire_bytes;	// of the packets returned
	uint64_t payload_bytes;
	uint32_t n_endpoints; // placed
	uint32_t n_endpoints_unplaced;
	uint32_t n_nodes;	// highest node of a packet + 1
	uint64_t n_pairs;	// ordered pairs of nodes with packets
	int64_t first_at_ns;	// the earliest stamp of a packet, since the epoch
	int64_t last_at_ns;	// and the latest
	tb_time_ps duration_ps; // last packet's at_ps
	tb_time_ps squeezed_ps; // idle time taken out; TB_TIME_NEVER: 106 days or more
	tb_time_ps peak_reorder_ps; // largest step back in time that was put in order
	tb_time_ps peak_step_ps;    // of the clock; TB_TIME_NEVER: 106 days or more
	bool is_cut;		    // with `lenient`: an input was damaged there
	bool is_untold;		    // frames of this link type do not tell their network
	uint16_t link_type;	    // of the first that does not
};

const struct tb_packets_summary *tb_packets_summary(const struct tb_packets *packets);

// tb_packets_beside returns the option.
const char *tb_packets_beside(const struct tb_packets *packets);

// tb_packets_fraction returns how much of the inputs has been read, in [0, 1]; negative
// when unknown.
double tb_packets_fraction(const struct tb_packets *packets);

// tb_packets_node_name returns the endpoint that became `node` ("10.77.0.1"), the first
// one if a map joins several, or "" if none did. Names, also those of
// tb_packets_job_name, live until the next call of tb_packets_next. Jobs are known once
// the trace is open.
const char *tb_packets_node_name(const struct tb_packets *packets, struct tb_node node);
uint32_t tb_packets_n_jobs(const struct tb_packets *packets);
const char *tb_packets_job_name(const struct tb_packets *packets, uint32_t job);

// tb_packets_job_of returns the job of `node`.
uint32_t tb_packets_job_of(const struct tb_packets *packets, struct tb_node node);

// tb_packets_look_ahead reads the records whose endpoints are numbered by address, unless
// that is done already. Then the summary has all nodes, except for very long captures. It
// fails only with TB_ENOMEM; tb_packets_next reports errors of the inputs.
int tb_packets_look_ahead(struct tb_packets *packets, struct tb_error *error) TB_MUST_USE;

// tb_packets_limit_nodes sets n_nodes_max for endpoints that appear from now on. It must
// not be less than the number of nodes so far.
void tb_packets_limit_nodes(struct tb_packets *packets, uint32_t n_nodes_max);

// Lists of the records whose network addresses the decoder did not reach, by the type at
// which it stopped. The sum of the first list is n_non_ip, that of the second
// n_undecodable.
enum tb_packets_list {
	TB_LIST_CONTROL,
	TB_LIST_UNDECODABLE,
	TB_LIST_BETWEEN_MACS, // replayed, unless cleaning drops them
};

#define TB_N_LISTS 3

struct tb_packets_type {
	struct tb_frame_type type; // TB_REGISTRY_OTHERS: all but the first 15 types
	uint64_t n_records;
};

// tb_packets_type returns row `i` of a list, from 0 in the order of first appearance;
// NULL after the last.
const struct tb_packets_type *tb_packets_type(
	const struct tb_packets *packets, enum tb_packets_list list, uint32_t i);

// tb_packets_unplaced_name returns endpoint `i`, from 0, of the first few without a node;
// NULL after the last.
const char *tb_packets_unplaced_name(const struct tb_packets *packets, uint32_t i);

// Packets and bytes of an ordered pair of nodes, so far. Pairs are numbered from 0 to
// n_pairs - 1 in the order of first appearance.
struct tb_packets_pair {
	struct tb_node source;
	struct tb_node destination;
	uint64_t n_packets;
	uint64_t wire_bytes;
	uint64_t payload_bytes;
};

const struct tb_packets_pair *tb_packets_pair(
	const struct tb_packets *packets, uint64_t pair);

// The load that a trace puts on a network, over its whole length. All 0 for an empty
// trace.
struct tb_packets_load {
	double mean_share;    // of the capacity of all nodes
	double busiest_share; // of its capacity, at the busiest node, in one direction
	struct tb_node busiest;
	double half_scale; // time scale that would load the busiest node to a half; it
			   // applies to captured time, whatever time_scale was used
};

// What a node of a network can send, and receive.
struct tb_packets_rate {
	double bytes_per_s; // 0: unknown
	double more_bytes;  // which a frame has there beyond its length; may be negative
};

struct tb_packets_load tb_packets_load(
	const struct tb_packets *packets, struct tb_packets_rate node);

// tb_packets_congestion makes a table of what was recorded of congestion so far, of all
// records, also those that are not replayed, in captured time since the first packet;
// gaps shrink as they do there. The caller frees it. TB_ENOMEM.
int tb_packets_congestion(const struct tb_packets *packets,
	struct tb_congestion **congestion, struct tb_error *error) TB_MUST_USE;

// tb_packets_gap returns how much trace time the captured time between two packets takes.
tb_time_ps tb_packets_gap(tb_time_ps squeeze_idle, int64_t gap_ns);

#endif
