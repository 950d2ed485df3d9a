// Turns records into what the job sent: decodes them, puts them in order, and drops
// copies, retransmissions and pure acknowledgements.
//
// Memory grows with the endpoints; windows and tables are bounded. One thread at a time
// per object.
#ifndef TB_CLEAN_H
#define TB_CLEAN_H

#include "address.h"
#include "capture_file.h"
#include "congestion_recorder.h"
#include "frame.h"
#include "packets.h"
#include "status.h"
#include "tcp_analysis.h"

#include <stdbool.h>
#include <stdint.h>

struct tb_clean; // opaque

// One record to replay. A record that was captured before the network card segmented it
// stands for several frames.
struct tb_cleaned {
	uint8_t transport; // enum tb_transport
	uint8_t flags;	   // as in struct tb_frame
	bool acknowledgement;
	bool response;
	bool repeated;				  // all of its bytes were sent before
	uint32_t channel, sequence, acknowledged; // as in struct tb_frame
	int64_t at_ns;
	uint32_t source; // number of an endpoint, never equal to destination
	uint32_t destination;
	uint32_t wire_bytes; // of the record's frame
	uint32_t payload_bytes;
	uint32_t header_bytes;	// before the payload, in each frame cut from it
	int64_t stamp_ns;	// as captured, where at_ns is in the order of time
	uint32_t full_bytes;	// TCP: payload of a full segment, as far as is known
	uint32_t segment_bytes; // payload of each frame but the last; 0: do not cut
	uint32_t stands_for;	// packets that were not all captured; mostly 1
	bool again;		// one of the others for which a sample stands
};

// tb_clean_new borrows `inputs` and `summary`, in which it counts what it drops.
int tb_clean_new(struct tb_clean **clean, struct tb_inputs *inputs,
	const struct tb_packets_options *options,
	struct tb_packets_summary *summary) TB_MUST_USE;
void tb_clean_free(struct tb_clean *clean);

// tb_clean_next returns the next record to replay, in the order of time: 1, 0 at the end,
// or negative after all whole records of a damaged input.
int tb_clean_next(struct tb_clean *clean, struct tb_cleaned *cleaned,
	struct tb_error *error) TB_MUST_USE;

// tb_clean_tcp returns what the analysis found in the record that was returned last, if
// that is one of TCP.
const struct tb_tcp_events *tb_clean_tcp(const struct tb_clean *clean);

const struct tb_endpoints *tb_clean_endpoints(const struct tb_clean *clean);

// tb_clean_congestion returns what was recorded so far of congestion.
struct tb_congestion_recorder *tb_clean_congestion(const struct tb_clean *clean);

// tb_clean_type: see tb_packets_type.
const struct tb_packets_type *tb_clean_type(
	const struct tb_clean *clean, enum tb_packets_list list, uint32_t i);

// Keeps the state of each connection: which of its bytes have been seen, and how large
// its segments are.
//
// The table is bounded: beyond TB_CONNECTIONS_MAX connections, each new one replaces one
// that has long been idle, found by the clock algorithm. If a forgotten connection goes
// on, it counts as a new one whose beginning was not captured. Memory: at most about 55
// MB. Not thread safe.

// Remembers which numbers of a 32-bit circular sequence space have been seen: all from
// `first` up to but not including `next`, except for a few holes.
//
// Numbers compare as in RFC 9293, section 3.4. Old numbers cannot be distinguished from
// future ones, so holes further back than the largest TCP window (2^30, RFC 7323, section
// 2.2) are closed: they count as seen. Beyond TB_SEQ_HOLES holes the oldest is closed,
// because a capture that lost packets leaves holes that are never filled.
//
// Value struct; constant memory and cost. Thread safe on different objects.

#define TB_SEQ_HOLES  6
#define TB_SEQ_WINDOW (UINT32_C(1) << 30)

struct tb_seq_ranges {
	uint32_t next;	// after the highest number seen
	uint32_t first; // the lowest number seen, at most TB_SEQ_WINDOW before `next`
	uint32_t n_holes;
	struct tb_seq_hole {
		uint32_t from;
		uint32_t to;   // exclusive
	} holes[TB_SEQ_HOLES]; // ascending, not touching each other
};

// tb_seq_ranges_begin starts at `first`. Lower numbers may still come: the capture may
// have begun in the middle of the connection.
void tb_seq_ranges_begin(struct tb_seq_ranges *ranges, uint32_t first);

// tb_seq_ranges_add marks `n` (below TB_SEQ_WINDOW) numbers from `from` on as seen and
// returns how many of them are new. After a jump by more than the window it begins anew.
// The inline part handles numbers in order and without holes, which are nearly all.
uint32_t tb_seq_ranges_add_slowly(
	struct tb_seq_ranges *ranges, uint32_t from, uint32_t n);

static inline uint32_t tb_seq_ranges_add(
	struct tb_seq_ranges *ranges, uint32_t from, uint32_t n)
{
	if (from != ranges->next || ranges->n_holes > 0)
		return tb_seq_ranges_add_slowly(ranges, from, n);
	ranges->next = from + n;
	if (ranges->next - ranges->first > TB_SEQ_WINDOW)
		ranges->first = ranges->next - TB_SEQ_WINDOW;
	return n;
}

#define TB_CONNECTIONS_MAX (UINT32_C(1) << 17)

struct tb_connection_key {
	uint32_t source; // numbers of endpoints
	uint32_t destination;
	uint32_t channel; // both ports, or a queue pair
	uint32_t kind;	  // a number per transport
	bool two_way;	  // the same connection with ends and ports swapped is the other
			  // direction
};

// One direction of a connection.
struct tb_direction {
	bool begun;   // `seen` and `first` are set
	uint16_t mss; // announced by its sender; 0: not seen
	uint16_t
		largest; // largest full-sized segment that needs no cutting; 0: none seen
	uint32_t first;	 // sequence number of the SYN, or the first one seen
	struct tb_tcp_side tcp;
	struct tb_seq_ranges seen;
};

struct tb_connections; // opaque

int tb_connections_new(struct tb_connections **connections) TB_MUST_USE;
void tb_connections_free(struct tb_connections *connections);

// tb_connections_get finds or adds a connection and stores two directions: `there` from
// the key's source to its destination, `back` the other way. Both live until the next
// call. Amortised constant cost.
int tb_connections_get(struct tb_connections *connections,
	const struct tb_connection_key *key, struct tb_direction **there,
	struct tb_direction **back) TB_MUST_USE;

// Finds copies of a frame that was captured at several points.
//
// Copies have the same digest. When a point sees a digest for the k-th time, the frame is
// a copy if k or more frames of that digest already counted as new. So frames that merely
// look alike (answers of the same length without an identification) are all kept,
// provided the capture identifies its points.
//
// It remembers the last TB_DEDUP_WINDOW_NS, which is longer than a frame stays in a full
// switch, and at most TB_DEDUP_FRAMES_MAX frames. Memory: constant, about 7 MB. Not
// thread safe.

#define TB_DEDUP_WINDOW_NS  INT64_C(100000000)
#define TB_DEDUP_FRAMES_MAX (UINT32_C(1) << 17)
#define TB_DEDUP_ANY_POINT  0 // the point is unknown, or does not matter

struct tb_dedup; // opaque

int tb_dedup_new(struct tb_dedup **dedup) TB_MUST_USE;
void tb_dedup_free(struct tb_dedup *dedup);

// tb_dedup_is_copy remembers a frame and returns whether it is a copy. `at_ns` must not
// decrease. With TB_DEDUP_ANY_POINT every repetition is a copy.
bool tb_dedup_is_copy(
	struct tb_dedup *dedup, uint64_t digest, uint64_t point, int64_t at_ns);

// Sorts records that are nearly in the order of time, by holding each back until the
// newest stamp is TB_REORDER_WINDOW_NS later.
//
// Almost all records come in order; they pass through a ring at constant cost. The others
// go through a heap. Records with equal stamps leave in the order of arrival. A record
// that is older than the window's edge is late: it leaves with the stamp of the edge. At
// most TB_REORDER_RECORDS_MAX records are held, whatever their stamps. Not thread safe.
//
// A step back that is longer, or that the next records confirm, is one of the clock:
// captures were appended in the wrong order, or the clock was set. A new stretch begins
// after the newest record, TB_REORDER_REST_NS later if the step is longer, else
// TB_REORDER_PAUSE_NS; all its stamps move by the same offset. The last few stretches
// are remembered, since interfaces with clocks of their own may alternate: when the
// stamps return to what a former stretch would go on with, it does. A step forward of
// more than a day moves the stamps, too, so that sums of stamps cannot overflow.

#define TB_REORDER_WINDOW_NS   INT64_C(2000000) // captures step back by up to 1.1 ms
#define TB_REORDER_RECORDS_MAX (UINT32_C(1) << 16)
#define TB_REORDER_LATE_NS     INT64_C(10000000) // longer steps are the clock's
#define TB_REORDER_LATE_MAX    4 // and so are shorter ones that as many records confirm
#define TB_REORDER_PAUSE_NS    INT64_C(1000000)
#define TB_REORDER_REST_NS     INT64_C(1000000000)
#define TB_REORDER_STRETCHES   4

// A frame held back; the struct fills a cache line.
struct tb_held {
	int64_t at_ns;	 // in the order of time: the record's stamp and an offset
	uint32_t source; // numbers of endpoints
	uint32_t destination;
	struct tb_frame frame;
};

struct tb_reorder {
	struct tb_held *ring;
	uint32_t ring_first;
	uint32_t ring_n;
	uint32_t ring_capacity; // a power of two
	struct tb_straggler *heap;
	size_t heap_n, heap_room;
	uint64_t n_arrived;
	int64_t newest_ns;
	int64_t edge_ns;   // no record leaves with an earlier stamp any more, unless
			   // newest_ns gives a later edge
	int64_t offset_ns; // of the stretch to which the last stamped record belongs
	int64_t former_ns[TB_REORDER_STRETCHES]; // offsets of stretches, newest first
	uint32_t n_former;
	uint64_t late_at;     // value of n_arrived at the last late record
	uint32_t n_late_run;  // late records in a row, up to that one
	struct tb_held taken; // the record last taken from the heap
	// Statistics.
	uint64_t n_reordered;
	uint64_t n_late;
	int64_t peak_ns;    // largest step back in time, unless it was the clock's
	uint64_t n_stepped; // steps back of the clock
	int64_t stepped_ns; // the largest
};

// A zeroed struct is empty. tb_reorder_fini frees what it holds.
void tb_reorder_fini(struct tb_reorder *reorder);

// tb_reorder_stamp must see the stamp of every record, even of those that will not be
// put. It returns the stamp with which the record may be put, and sets `offset_ns`.
int64_t tb_reorder_stamp(struct tb_reorder *reorder, int64_t at_ns);

// tb_reorder_place returns room for the next record, of which the caller fills all but
// `at_ns`; NULL when there is no memory. The record is held only once tb_reorder_put puts
// it, with a stamp from tb_reorder_stamp. The pointer lives until then. This saves a copy
// per record.
struct tb_held *tb_reorder_place(struct tb_reorder *reorder);
int tb_reorder_put(struct tb_reorder *reorder, int64_t at_ns) TB_MUST_USE;

// tb_reorder_take removes and returns the oldest record if it is due, or with `all` in
// any case; NULL when there is none. The record lives until the next call.
struct tb_held *tb_reorder_take(struct tb_reorder *reorder, bool all);

#endif
