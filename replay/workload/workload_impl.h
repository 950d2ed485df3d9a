// What workload.c, which reads the inputs, and workload.c share. Private to
// replay/.
#ifndef TB_WORKLOAD_IMPL_H
#define TB_WORKLOAD_IMPL_H

#include "ids.h"
#include "infile.h"
#include "job.h"
#include "map_file.h"
#include "packets.h"
#include "placement.h"
#include "source.h"
#include "workload.h"

#include <stddef.h>

// A job trace as a source: an operation starts when those that it depends on are done
// (closed loop).
//
// A send posts its message when it starts and is done when the last packet is
// acknowledged (its buffer is free). A receive is posted when it is ready and done when a
// message that matches has been delivered; matching is MPI's: by source and tag, or any,
// in the order of delivery and of posting. A calc occupies its cpu of the rank for its
// time; calcs and sends of one cpu start in the order in which they became ready, a send
// while no calc runs there.
//
// Memory: 25 bytes per operation, 8 of jobs with recorded times and 24 per message,
// besides the job itself; where the job is on disk, so is that.

struct tb_closed_loop; // opaque
struct tb_op_log;      // op_log.h

// tb_closed_loop_new borrows `job` and copies `node_of_rank` (n_ranks entries). `number`
// is the number of the job in flows.
//
// With `broadcasts`, sends of one rank that start in the same instant, have one size and
// tag, and go to consecutive nodes (its own may be left out) become one broadcast
// (docs/inputs.md).
int tb_closed_loop_new(struct tb_closed_loop **loop, const struct tb_job *job,
	const uint32_t *node_of_rank, uint32_t number, bool broadcasts,
	struct tb_error *error) TB_MUST_USE;
void tb_closed_loop_free(struct tb_closed_loop *loop);

// tb_closed_loop_open_windows has calcs of closed windows (job.h) take no time, and
// returns whether there are any.
bool tb_closed_loop_open_windows(struct tb_closed_loop *loop);

// Where messages were given up, the source's finish returns TB_OK even if operations
// still wait for them; compare tb_closed_loop_n_done with the job's operations.
struct tb_source tb_closed_loop_source(struct tb_closed_loop *loop);

// tb_closed_loop_worked_until returns when a rank last ended a calc, which may be after
// the last message; 0: none did.
tb_time_ps tb_closed_loop_worked_until(const struct tb_closed_loop *loop);

// tb_closed_loop_n_done returns the number of operations that are done.
uint64_t tb_closed_loop_n_done(const struct tb_closed_loop *loop);

// tb_closed_loop_times adds up how long the calls took of which the job has times
// (job->recorded); it counts those that the replay did not come to the end of. TB_ENOMEM;
// tb_call_times_fini in any case.
int tb_closed_loop_times(const struct tb_closed_loop *loop, struct tb_call_times *times,
	uint64_t *n_unreached) TB_MUST_USE;

// tb_closed_loop_keep_log has the loop log its operations; before tb_closed_loop_source.
// TB_ENOMEM. tb_closed_loop_log returns the log; NULL: there is none, or the job has too
// many operations.
int tb_closed_loop_keep_log(struct tb_closed_loop *loop) TB_MUST_USE;
const struct tb_op_log *tb_closed_loop_log(const struct tb_closed_loop *loop);

// Several sources as one: jobs that share a network, each with its own start.
//
// Each part's time counts from its start; its nodes and jobs are renumbered to those of
// the whole. Within an instant the parts are asked in their order.

struct tb_source_part {
	struct tb_source source; // its cookies must be below 2^48
	tb_time_ps start_ps;
	uint32_t first_job;	 // added to the jobs of its messages
	const uint32_t *node_of; // its node to the network's; NULL: the same
};

struct tb_sources; // opaque

// tb_sources_new copies the parts, at most 65,535, and borrows what they point to.
int tb_sources_new(struct tb_sources **sources, const struct tb_source_part *parts,
	uint32_t n, struct tb_error *error) TB_MUST_USE;
void tb_sources_free(struct tb_sources *sources);

struct tb_source tb_sources_source(struct tb_sources *sources);

// A packet trace as a source: each captured frame is a message of its wire length, posted
// when it was captured, whatever the network makes of it (open loop).
//
// Of a capture that breaks off, all whole packets are posted and delivered; then `finish`
// returns the error.

struct tb_open_loop {
	struct tb_packets *packets;
	uint32_t job; // the only one whose packets are posted; TB_ID_NONE: all are
	struct tb_captured_packet head;
	bool has_head;
	int status; // of the last read
	struct tb_error error;
};

// tb_open_loop_init reads the first packet, of job `job` of the capture; the packets of
// others are passed over. TB_ID_NONE: of all. It borrows `packets`.
void tb_open_loop_init(
	struct tb_open_loop *loop, struct tb_packets *packets, uint32_t job);

// tb_open_loop_source makes the source; it borrows `loop`.
struct tb_source tb_open_loop_source(struct tb_open_loop *loop);

struct workload_input {
	struct tb_job_spec spec;  // of a plain input, its file and name alone
	const char *const *files; // one, or captures that are merged
	size_t n_files;
	char *files_text; // "a.pcap, b.pcap"
	char *name;	  // of its job
	char *placement;  // as it was given, ""
	bool is_plain;	  // no --job
	bool is_calls;	  // a trace of what the ranks called
	bool is_apart;	  // its ranks all ran on one host, but are placed on several
	bool keeps_nodes; // captures whose endpoints name their own nodes
	bool closes;	  // captures that become jobs; later: such a job
	bool is_part;	  // of the captures of the input before it
	struct tb_job *job;
	struct tb_opened_input pipe; // a capture that can be opened only once
	struct tb_packets *packets;
	struct tb_map_file *map; // of captures: their own, or as surveyed
	// Captures whose jobs became inputs, this one and the next n_parts - 1, are
	// placed as one: their nodes, by number, and what the map gives of these (NULL:
	// nothing).
	uint32_t n_together, n_parts;
	uint32_t *given_nodes;
	const char **given_hosts;
	uint32_t *member; // by rank: its number among these
	uint32_t n_ranks; // 0: captures that keep their nodes
	uint32_t first_job, n_jobs;
	uint32_t *node_of_rank;
	struct tb_closed_loop *closed;
	struct tb_open_loop open;
	struct tb_source source;
	uint64_t n_packets; // that a job sends between different nodes
};

struct tb_workload {
	const struct tb_workload_options *options;
	struct workload_input *inputs;
	uint32_t n_inputs;
	size_t inputs_room;
	const char **joined; // the plain inputs that are joined, input by input
	uint32_t n_jobs;
	struct tb_sources *sources; // NULL: one input, as it is
	uint32_t packet_bytes;	    // payload of a full one; 0: packets are not foreseen
	uint32_t n_hosts;	    // of the network, once placed
	bool broadcasts;	    // it has them
};

// workload.c: frees what an input holds; a zeroed one holds nothing.
void tb_workload_free_input(struct workload_input *input);

// workload_captures.c: how an input's captures are opened; opening those of all inputs
// that have no job. tb_workload_survey makes a map of captures whose jobs are to be
// found, or whose ranks must be known.
struct tb_packets_options tb_workload_packets(
	const struct tb_workload *workload, const struct workload_input *input);
int tb_workload_open_captures(struct tb_workload *workload, struct workload_input *input,
	struct tb_error *error) TB_MUST_USE;
int tb_workload_survey(const struct tb_workload *workload, struct workload_input *input,
	struct tb_error *error) TB_MUST_USE;

// workload_captures.c: tb_workload_mark_loops finds the captures that become jobs, and
// refuses options that would have no effect on these; tb_workload_close_loops makes the
// jobs, each an input of its own. Maps are checked before anything is inferred.
int tb_workload_mark_loops(
	struct tb_workload *workload, struct tb_error *error) TB_MUST_USE;
int tb_workload_close_loops(
	struct tb_workload *workload, struct tb_error *error) TB_MUST_USE;

// workload.c: where the nodes of captures that are placed as one are; the caller
// frees them.
int tb_workload_place_together(const struct workload_input *input, uint32_t number,
	struct tb_places *places, uint32_t **nodes, struct tb_error *error) TB_MUST_USE;

// workload.c: the input that a job is of.
const struct workload_input *tb_workload_input_of(
	const struct tb_workload *workload, uint32_t job);

// Which receive takes which message: MPI's rule, by source and tag, or any, in the order
// of delivery and of posting. Private to replay/.
//
// Sends and receives are the operations of a job; each is posted or arrives once. Cost:
// constant, except for receives with a wildcard: they are searched in the order of
// posting, or search what has arrived at their rank.

// A first-in first-out list of operations, linked through an array that its owner keeps
// for all operations, so an operation is in one list per array at a time.
struct tb_op_queue {
	uint32_t first, last; // `last` means nothing while `first` is TB_ID_NONE
};

static inline struct tb_op_queue tb_op_queue_empty(void)
{
	return (struct tb_op_queue){TB_ID_NONE, TB_ID_NONE};
}

static inline void tb_op_queue_push(
	struct tb_op_queue *queue, uint32_t *next, uint32_t op)
{
	next[op] = TB_ID_NONE;
	if (queue->first == TB_ID_NONE)
		queue->first = op;
	else
		next[queue->last] = op;
	queue->last = op;
}

// tb_op_queue_pop removes and returns the first of a queue that is not empty.
static inline uint32_t tb_op_queue_pop(struct tb_op_queue *queue, const uint32_t *next)
{
	uint32_t op = queue->first;
	queue->first = next[op];
	return op;
}

// tb_op_queue_append puts what is in `more` behind.
static inline void tb_op_queue_append(
	struct tb_op_queue *queue, uint32_t *next, const struct tb_op_queue *more)
{
	if (more->first == TB_ID_NONE)
		return;
	if (queue->first == TB_ID_NONE)
		queue->first = more->first;
	else
		next[queue->last] = more->first;
	queue->last = more->last;
}

// tb_op_queue_remove takes `op` out; its predecessor is `before`, TB_ID_NONE for the
// first.
static inline void tb_op_queue_remove(
	struct tb_op_queue *queue, uint32_t *next, uint32_t before, uint32_t op)
{
	if (before == TB_ID_NONE)
		queue->first = next[op];
	else
		next[before] = next[op];
	if (queue->last == op)
		queue->last = before;
}

struct tb_matching {
	const struct tb_job *job;
	const uint32_t *rank_of; // of each operation
	uint32_t *channel;	 // of each send and each receive without wildcards
	uint32_t
		*next; // link of posted receives, and of messages on their way or arrived
	// Of a receive, the order of its posting; of a send, whether it has landed, then
	// the link of its rank's arrivals.
	uint32_t *aside;
	struct tb_disk_array array; // of the channels
	struct tb_matching_channel *channels;
	uint32_t n_channels;
	size_t channels_room;
	struct tb_matching_rank *ranks;
	uint32_t n_posted;
};

// tb_matching_init borrows `job`, `rank_of` (n_ops entries) and `links` (room for three
// times n_ops + 1) until tb_matching_fini. On failure (TB_ENOMEM) what was made is freed.
// A zeroed struct may be finished too.
int tb_matching_init(struct tb_matching *matching, const struct tb_job *job,
	const uint32_t *rank_of, uint32_t *links) TB_MUST_USE;
void tb_matching_fini(struct tb_matching *matching);

// tb_matching_post returns the message that a receive takes, the earliest arrival that
// matches, or TB_ID_NONE when it must wait for one.
uint32_t tb_matching_post(struct tb_matching *matching, uint32_t recv);

// Messages of one sender, receiver and tag do not overtake each other (MPI 4.0, 3.5).
// tb_matching_send notes that a message leaves, tb_matching_land that it has come over
// the network, or is lost. tb_matching_in_turn then returns a message of `send`'s sender,
// receiver and tag that now arrives; TB_ID_NONE when there are no more.
void tb_matching_send(struct tb_matching *matching, uint32_t send);
void tb_matching_land(struct tb_matching *matching, uint32_t send, bool lost);
uint32_t tb_matching_in_turn(struct tb_matching *matching, uint32_t send);

// tb_matching_arrive returns the receive that takes a message, the earliest posted that
// matches, or TB_ID_NONE when the message must wait for one.
uint32_t tb_matching_arrive(struct tb_matching *matching, uint32_t send);

#endif
