// The inside of the hosts, shared by host.c (messages and their pieces), rails.c (over
// which rails they go), rails.c (NICs that are set aside), host.c (what becomes
// of them), memory.c (copies within a node) and host_records.c (flows, blame, figures).
// Private to replay/.
//
// Words: a message of a process is a transfer. It is cut into pieces, each issued by
// itself; a piece is posted to NICs as one part, or as one a rail. Around the data go
// messages without payload: handshakes, and those by which NICs are reserved.
#ifndef TB_HOST_IMPL_H
#define TB_HOST_IMPL_H

#include "host.h"

#include "map.h"
#include "network_impl.h"
#include "slowest_messages.h"
#include "timers.h"

#include <stddef.h>

#define NOTHING UINT32_MAX

// What a link carries at once of a message that goes on by a NIC: a slot of NCCL's
// buffers, 4 MiB in eight steps (DEFAULT_BUFFSIZE in src/init.cc, NCCL_STEPS in
// src/include/device.h).
#define TB_LINK_SLOT_BYTES (UINT64_C(512) << 10)

struct transfer {
	struct tb_message what;
	uint64_t number; // of all, in the order of posting
	tb_time_ps posted_at;
	// How its latency came about (docs/model.md, "Latency").
	tb_time_ps queue_ps, software_ps; // of its first piece, until that is in
	tb_time_ps started_at;		  // data of its first piece entered the network
	tb_time_ps drained_at;		  // the last of its data until now
	tb_time_ps paced_ps;		  // of the piece that was kept longest
	tb_time_ps left_ps;		  // of its copy through memory, if it were alone
	uint64_t uncut;			  // bytes
	uint64_t serial;		  // of those of its pair of processes
	uint32_t n_uncut, n_unsent, n_undelivered; // pieces
	uint32_t sender, receiver;		   // processes
	uint32_t pair;
	uint32_t next; // of its process's queue, of its pair's early ones, or free
	uint32_t uses;
	bool is_given_up;
	bool is_reported_sent; // before it was acknowledged
};

struct piece {
	uint64_t bytes;
	uint32_t transfer;
	uint32_t n_controls;		  // handshakes still to be made
	uint32_t n_unsent, n_undelivered; // parts
	uint32_t next;			  // of its node's requests, or free
	uint32_t uses;
	uint32_t rail;	    // of the data, unless they are split
	uint64_t request;   // number in the order of requests
	bool is_offered_to; // a NIC is set aside for it
	bool is_first;	    // of its transfer
	bool is_paced;	    // need not wait for its channels any more
	bool is_relayed;    // is where its rail begins
};

// What the hosts know of a NIC, where the policy for rails asks for it.
struct nic {
	uint64_t bytes;	    // that it was given and that are not yet acknowledged
	uint32_t n_carried; // reserved pieces that it sends or receives
	uint32_t offered;   // the piece for which it is set aside, as a receiver
	uint32_t refused;   // first of the refusals that it has to take back
};

// A NIC that refused an offer sends a message without payload when it is free.
struct refusal {
	struct tb_message what; // from the NIC's node to the one that offered
	uint32_t rail;
	uint32_t next; // of its NIC's, or free
};

// The requests that wait at a node, in the order of their arrival.
struct host_requests {
	uint32_t first, last; // pieces
};

// What a message between NICs is. Its cookie is this and the number of a piece, or of a
// refusal.
enum tb_host_part {
	TB_PART_DATA,
	TB_PART_HANDSHAKE,
	TB_PART_REQUEST,
	TB_PART_OFFER,
	TB_PART_REFUSAL,
	TB_PART_RELEASE, // of a refusal
	TB_PARTS
};

struct host_process {
	tb_time_ps noticed_until;
	tb_time_ps link_free_at;     // to the processes of its node
	tb_time_ps input_free_at;    // and from them
	uint32_t queue, queue_end;   // transfers
	uint32_t copies, copies_end; // transfers, of which it copies the first
	uint32_t n_under_way;	     // pieces
	uint32_t next_rail;
	uint32_t node;
	bool issuing;
};

// What one process sends to another. Only kept apart when there are several rails.
struct host_pair {
	uint64_t n_posted, n_reported;
	tb_time_ps channels_free_at;
	uint32_t early; // transfers that are complete before their turn
};

struct pool { // of equal records, which go by their numbers
	char *records;
	size_t size, room;
	uint32_t n;
};

// The memory of a node: what its processes copy now, the first of each.
struct tb_memory {
	uint32_t *copying; // transfers
	size_t room;
	uint32_t n;
	tb_time_ps since; // when what is left of them was up to date
	tb_time_ps due;	  // when the first of them ends
};

struct tb_host {
	const struct tb_network *net;
	const struct tb_source *source;
	const struct tb_observer *observer;
	tb_ideal_time *ideal_ps;
	struct tb_host_params params;
	struct tb_host_params bare; // of captured packets, which have no library
	uint32_t n_rails, n_hosts;
	tb_time_ps now, last_reported;
	struct pool transfers, pieces, processes, pairs;
	uint32_t free_transfer, free_piece;
	struct tb_map process_of, pair_of, flow_of;
	struct tb_timers timers;
	struct nic *nics; // by rail and host, as in the network; NULL: nobody asks
	struct host_requests *requests; // by host, to reserve its NICs
	struct pool refusals;
	uint32_t free_refusal;
	struct tb_map known; // rails.c: which senders' NICs are taken
	uint64_t *sends_on;  // by host: the rails on which it sends, as bits
	uint64_t n_requests;
	struct tb_memory *memories;  // of each host
	struct tb_message *outgoing; // ring
	uint32_t outgoing_first, n_outgoing, outgoing_room;
	struct pool flows;		     // struct tb_flow_sample
	struct tb_slowest_messages messages; // kept if the observer asks for them
	uint64_t n_posted, n_delivered, n_undelivered, payload_bytes;
	bool no_memory;
};

static inline struct transfer *transfer_at(const struct tb_host *host, uint32_t id)
{
	return (struct transfer *)(void *)host->transfers.records + id;
}

static inline struct piece *piece_at(const struct tb_host *host, uint32_t id)
{
	return (struct piece *)(void *)host->pieces.records + id;
}

static inline struct host_process *process_at(const struct tb_host *host, uint32_t id)
{
	return (struct host_process *)(void *)host->processes.records + id;
}

static inline struct host_pair *pair_at(const struct tb_host *host, uint32_t id)
{
	return (struct host_pair *)(void *)host->pairs.records + id;
}

static inline struct tb_flow_sample *host_flow_at(const struct tb_host *host, uint32_t id)
{
	return (struct tb_flow_sample *)(void *)host->flows.records + id;
}

enum tb_host_timer {
	TB_HOST_ISSUED,	  // piece
	TB_HOST_NOTICED,  // piece
	TB_HOST_ANSWERED, // piece
	TB_HOST_COPIED,	  // transfer, within its node
	TB_HOST_SEEN,	  // likewise
	TB_HOST_MEMORY,	  // node: a copy ends
	TB_HOST_RELAYED,  // piece
	TB_HOST_LINKED,	  // transfer, on its sender's link or in its memory
	TB_HOST_PACED,	  // piece
	TB_HOST_N_TIMERS,
};

// host.c: what goes out.
//
// tb_host_advance issues what a process has to send, as far as it may; tb_host_dispatch
// posts the next that a piece takes: a handshake, or its data.
void tb_host_advance(struct tb_host *host, uint32_t process);
void tb_host_dispatch(struct tb_host *host, uint32_t piece);
void tb_host_set_timer(
	struct tb_host *host, tb_time_ps at, enum tb_host_timer kind, uint32_t id);
int tb_host_out_of_memory(struct tb_error *error);

// tb_host_post gives the engine a message between the NICs of two nodes on a rail; `id`
// is a piece, or a refusal.
void tb_host_post(struct tb_host *host, enum tb_host_part part, uint32_t id,
	const struct tb_message *message, uint32_t rail);

// rails.c: over which rails messages go.
//
// tb_rails_init prepares the policy for rails. TB_ENOMEM.
int tb_rails_init(struct tb_host *host) TB_MUST_USE;
void tb_rails_fini(struct tb_host *host);
// tb_rails_choose returns the rail of the next unsplit message of a process.
uint32_t tb_rails_choose(
	struct tb_host *host, uint32_t process, const struct tb_message *message);
// tb_rails_bound returns the rail on which a message leaves its node where ranks are
// bound to rails, else 0.
uint32_t tb_rails_bound(const struct tb_host *host, const struct tb_message *message);

// tb_rails_each returns to how many rails a rank is bound.
uint32_t tb_rails_each(const struct tb_host *host);
// tb_rails_nics makes the ends of a message, which are nodes, NICs: of a rail, or with
// between_rails = spine of that rail and of the receiver's.
void tb_rails_nics(const struct tb_host *host, struct tb_message *message, uint32_t rail);
// tb_rails_send sends the data of a piece, now or once NICs are reserved for it;
// tb_rails_post posts them whole on one rail.
void tb_rails_send(struct tb_host *host, uint32_t piece);
void tb_rails_post(struct tb_host *host, uint32_t piece, uint32_t rail);
// The data of a piece that was not split have been acknowledged, or given up
// (tb_rails_sent); they have arrived, or are given up (tb_rails_delivered).
void tb_rails_sent(struct tb_host *host, uint32_t piece);
void tb_rails_delivered(struct tb_host *host, uint32_t piece);

static inline struct nic *nic_at(
	const struct tb_host *host, struct tb_node node, uint32_t rail)
{
	return &host->nics[rail * host->n_hosts + node.id];
}

// memory.c: local = memory.
//
// tb_memory_init prepares the memories. TB_ENOMEM. tb_memory_post has the sender issue a
// transfer, tb_memory_copy begins, or queues, its copy. tb_memory_due: the timer of a
// node's memory.
int tb_memory_init(struct tb_host *host) TB_MUST_USE;
void tb_memory_fini(struct tb_host *host);
void tb_memory_post(struct tb_host *host, uint32_t transfer);
void tb_memory_copy(struct tb_host *host, uint32_t transfer);
void tb_memory_due(struct tb_host *host, uint32_t node);

// host.c: what the channels of two processes carry (rule H10).
//
// tb_channels_have returns whether a message waits for channels. tb_channels_rate returns
// what they carry of it per second, and tb_channels_piece_bytes the longest piece of any
// message; 0: no limit. tb_channels_hold returns whether a piece has to wait, and has it
// sent later then.
bool tb_channels_have(const struct tb_host *host, const struct tb_message *message);
uint64_t tb_channels_rate(const struct tb_host *host, const struct tb_message *message);
uint64_t tb_channels_piece_bytes(
	const struct tb_host *host, const struct tb_message *message);
bool tb_channels_hold(struct tb_host *host, uint32_t piece);
// tb_channels_local_time returns how long a message over a link takes at least; 0: no
// limit.
tb_time_ps tb_channels_local_time(
	const struct tb_host *host, const struct tb_message *message);

// rails.c: rails_policy = reserve.
//
bool tb_reserve_is_needed(const struct tb_host *host, const struct tb_message *message);
void tb_reserve_request(struct tb_host *host, uint32_t piece);
// tb_reserve_arrived: a message of these parts has arrived. tb_reserve_lost: it was given
// up; returns whether its piece is, too.
void tb_reserve_arrived(struct tb_host *host, enum tb_host_part part, uint32_t id);
bool tb_reserve_lost(struct tb_host *host, enum tb_host_part part, uint32_t id);
// tb_reserve_end: a NIC has sent or received a piece.
void tb_reserve_end(struct tb_host *host, struct tb_node node, uint32_t rail);

// Called when a timer runs out: a piece has been noticed by its receiver; a transfer has
// been sent; a transfer is complete (or given up), and is reported once all earlier ones
// from the same process to the same process have been.
int tb_host_noticed(struct tb_host *host, uint32_t piece, struct tb_error *error);
int tb_host_report_sent(struct tb_host *host, uint32_t transfer, struct tb_error *error);
int tb_host_complete(struct tb_host *host, uint32_t transfer, struct tb_error *error);

// tb_host_add adds a zeroed record to a pool and returns its number, or NOTHING, with
// `no_memory` set.
uint32_t tb_host_add(struct tb_host *host, struct pool *pool);

// tb_host_copy_time returns the time for `bytes` at a rate, rounded; 0 without a rate.
tb_time_ps tb_host_copy_time(uint64_t bytes, uint64_t bytes_per_s);

// Of a piece of so many bytes: messages of its handshake; the time that each end copies
// it, which only one without a handshake takes; the time that its issue takes.
uint32_t tb_host_n_controls(const struct tb_host_params *params, uint64_t bytes);
tb_time_ps tb_host_eager_time(const struct tb_host_params *params, uint64_t bytes);
tb_time_ps tb_host_issue_time(const struct tb_host_params *params, uint64_t bytes);

// tb_host_n_parts returns over how many rails a piece of so many bytes of a message is
// split.
uint32_t tb_host_n_parts(
	const struct tb_host *host, const struct tb_message *message, uint64_t bytes);

static inline const struct tb_host_params *host_params_for(
	const struct tb_host *host, const struct tb_message *message)
{
	return message->captured ? &host->bare : &host->params;
}

// tb_host_is_local returns whether a message stays inside its node without a network
// interface.
static inline bool tb_host_is_local(
	const struct tb_host *host, const struct tb_message *message)
{
	return host_params_for(host, message)->local != TB_LOCAL_NETWORK &&
	       message->source.id == message->destination.id;
}

// Latencies. tb_host_begun: a piece has begun to be issued, which takes `takes`.
// tb_host_crossed: the engine reports how the latency of a part came about.
void tb_host_begun(struct tb_host *host, uint32_t piece, tb_time_ps takes);
void tb_host_crossed(
	void *context, uint64_t cookie, const struct tb_latency_parts *crossing);

// tb_host_count adds a delivered message to its flow, and to the messages that are kept.
void tb_host_count(struct tb_host *host, const struct transfer *transfer);

#endif
