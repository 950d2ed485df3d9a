// The parts of the inference of a job from packets (infer.h): messages, ports, paths,
// causes, rendezvous. Private to capture/infer/.
//
// Messages are cut from the records of connections: rules L1 to L4 of
// infer.h. The caller adds records in the order of time, each with the times
// at which it passed the ports. Messages of an ordered pair of nodes are in the order in
// which they began. Memory grows with messages and connections.
#ifndef TB_INFER_IMPL_H
#define TB_INFER_IMPL_H

#include "infer.h"

struct tb_inferred_message {
	uint32_t source, destination; // nodes
	uint64_t bytes;
	int64_t called_ns;    // the earliest instant at which its sender can have called
	int64_t left_ns;      // the latest: its first byte left the sender
	int64_t began_ns;     // the first byte of the run that it was cut from left
	int64_t last_ns;      // its last byte was captured
	int64_t delivered_ns; // its last byte left the receiver's port
	int64_t acked_ns;     // its receiver's acknowledgement left; INT64_MAX: not seen
	int64_t path_ns;      // on the captured path; see tb_message_arrived
	int64_t path_most_ns; // it may be so long
	bool path_known;
	// Not computation: its connection was set up then, or made up for a loss.
	int64_t stalled_from_ns, stalled_to_ns;
	// Closings of windows are numbered from 1; 0: none.
	uint32_t closes;    // it filled its receiver's window
	uint32_t reopens;   // it is the acknowledgement that opens the window
	uint32_t resumes;   // its sender goes on after that
	uint32_t n_missing; // bytes that were not captured
	bool is_cut_off;    // from what follows it, by the sizes of others
	bool is_unfinished; // when the capture ended
	bool is_unnumbered; // a datagram
};

// The first 100 us of a path do not change the order of events, only gaps: the times in
// which kernels answer vary by as much.
#define TB_PATH_SLACK_NS 100000

// tb_message_arrived returns when a message had reached its receiver. Times are those at
// which records passed the capture point, but deliveries count from when the receiver's
// answer could have passed it.
static inline int64_t tb_message_arrived(const struct tb_inferred_message *message)
{
	int64_t slack_ns =
		message->path_ns < TB_PATH_SLACK_NS ? message->path_ns : TB_PATH_SLACK_NS;
	int64_t at_ns = message->delivered_ns + slack_ns;
	if (at_ns <= message->acked_ns)
		return at_ns;
	return message->acked_ns > message->delivered_ns ? message->acked_ns
							 : message->delivered_ns;
}

// tb_inferred_count adds a message to a report.
void tb_inferred_count(
	struct tb_infer_report *report, const struct tb_inferred_message *message);

// When a record passed the ports of its sender and receiver.
struct tb_passage {
	int64_t called_ns, left_ns; // as in struct tb_inferred_message
	int64_t delivered_ns;
	int64_t frame_ns;	       // that the sender's port takes for a full frame
	int64_t busy_ns;	       // since when the sender's port was hardly idle
	int64_t path_ns, path_most_ns; // as in struct tb_inferred_message
	bool path_known;
};

struct tb_message_list {
	struct tb_disk_array array; // of the rows
	struct tb_inferred_message *rows;
	size_t n, room;	     // at most 2^31 - 1
	uint32_t n_closings; // of windows
};

// Where messages are gone through, what is behind is let go of after so many.
#define TB_COOLED_MESSAGES (UINT32_C(1) << 17)

// tb_message_list_cool is called before the `i`th message that is looked at, whichever;
// tb_message_list_at returns a message of a list that is gone through in its order.
static inline void tb_message_list_cool(const struct tb_message_list *list, size_t i)
{
	if (i % TB_COOLED_MESSAGES == 0)
		tb_disk_array_cool(&list->array);
}

static inline const struct tb_inferred_message *tb_message_list_at(
	const struct tb_message_list *list, size_t i)
{
	tb_message_list_cool(list, i);
	return &list->rows[i];
}

// A cause: a delivery to the message's sender, or a call of its own before.
struct tb_cause {
	uint32_t message : 31;
	uint32_t is_call : 1;
};

static inline struct tb_cause tb_cause_of(uint32_t message, bool is_call)
{
	return (struct tb_cause){message & INT32_MAX, is_call};
}

// A call of a node, or the end of what it waited for (a delivery, an acknowledgement).
struct tb_node_moment {
	int64_t at_ns;
	uint32_t node;
	struct tb_cause what; // its row in the list
};

// tb_by_node_moment, for qsort: by node, then by time; at one instant calls come last.
int tb_by_node_moment(const void *a, const void *b);

struct tb_message_finder; // opaque

// tb_message_finder_new: messages may lie in a file in the folder of `beside`.
int tb_message_finder_new(
	struct tb_message_finder **messages, const char *beside) TB_MUST_USE;
void tb_message_finder_free(struct tb_message_finder *messages);

// tb_message_finder_add takes up a record. TB_ENOMEM, TB_ECAPACITY.
int tb_message_finder_add(struct tb_message_finder *messages,
	const struct tb_packet_record *record,
	const struct tb_passage *passage) TB_MUST_USE;

// tb_message_finder_end cuts what is left, splits messages by the sizes of others, and
// gives the list, ordered by `left_ns`, to the caller, who frees its array. It counts in
// `report`.
int tb_message_finder_end(struct tb_message_finder *messages,
	struct tb_message_list *list, struct tb_infer_report *report) TB_MUST_USE;

// A message while it is cut.
struct tb_uncut_message {
	struct tb_inferred_message message;
	uint32_t stream;
	uint32_t next; // of the stream
	uint32_t end;  // sequence number after its last byte
};

// The ports of the captured network: when a record was delivered, and since when its
// sender can have wanted to send it. Rules L5 and L6 of infer.h.
//
// Model: each node has one port with a rate and a bucket of bytes that pass at once after
// a pause, the same in both directions (a line has no bucket). A capture sees a record
// between the sender's port and the receiver's. What stands in the receiver's port is the
// sum of what was sent to it; a sender whose records follow each other at its rate had a
// queue.

struct tb_passages; // opaque

// tb_passages_new measures rates and bucket in records of the beginning of a capture.
int tb_passages_new(struct tb_passages **ports, const struct tb_packet_record *records,
	size_t n) TB_MUST_USE;
void tb_passages_free(struct tb_passages *ports);

// tb_passages_add takes up the next record in the order of time.
int tb_passages_add(struct tb_passages *ports, const struct tb_packet_record *record,
	struct tb_passage *passage) TB_MUST_USE;

// tb_passages_report writes the rate and the bucket.
void tb_passages_report(const struct tb_passages *ports, struct tb_infer_report *report);

// The paths of the captured network: rule L5a of infer.h.
//
// A record that passes the capture point reaches a node and is answered by its kernel;
// the answer passes the point one round trip later. The least of these is the path's. It
// is known by the halves of handshakes and by acknowledgements, but those that a timer
// may have delayed, or that came with data, only bound it.

struct tb_halves; // opaque

struct tb_captured_path {
	int64_t half_ns; // from the capture point to the node and back
	int64_t most_ns; // it may be so long
	bool known;
};

// tb_halves_new measures the records of the beginning of a capture, of which `ports` has
// taken none; nor has it afterwards.
int tb_halves_new(struct tb_halves **halves, struct tb_passages *ports,
	const struct tb_packet_record *records, size_t n) TB_MUST_USE;
void tb_halves_free(struct tb_halves *halves);

// tb_halves_add takes up the next record and what the ports made of it: what stood in a
// port is not the path's.
int tb_halves_add(struct tb_halves *halves, const struct tb_packet_record *record,
	const struct tb_passage *passage) TB_MUST_USE;

// tb_halves_to returns the path of what node `from` sends to `to`.
struct tb_captured_path tb_halves_to(
	const struct tb_halves *halves, uint32_t from, uint32_t to);

// What each message waited for: rules L7 to L12 of infer.h.

#define TB_CAUSES_MAX 12 // of one message

enum tb_cause_kind { TB_CAUSE_FIRST, TB_CAUSE_NEAREST, TB_CAUSE_RECURRING };

struct tb_caused {
	uint32_t first; // its causes, in `rows` of the list
	uint8_t n;
	uint8_t kind; // enum tb_cause_kind
	bool hidden;
	bool gap_may_be_path; // the gap may be the captured path's
	int64_t gap_ns;	      // of computation, after the last of the causes
};

struct tb_causes {
	struct tb_disk_array array, row_array; // of these
	struct tb_caused *of;		       // by message
	struct tb_cause *rows;
	size_t n_rows, rows_room;
};

// Hypotheses beside what is likely: rule L16 of infer.h. In the order of their names
// (tb_hypothesis_names).
enum tb_time_bound {
	TB_BOUND_LEAST,	  // calls as early as possible, what recurs is a cause, and
			  // computation is what follows all that may be one
	TB_BOUND_REGULAR, // what is likely, but computation is the same each time
	TB_N_BOUNDS,
};

// tb_causes_find finds the causes of the messages of `n_nodes` nodes, which are ordered
// by `left_ns`; time begins at `begin_ns`. causes[0] gets those that are likely, and the
// next `n_bounds` those of the bounds; tb_causes_fini frees what one holds, and
// tb_causes_cool lets go of it. They lie where the list lies.
int tb_causes_find(struct tb_causes *causes, uint32_t n_bounds,
	const struct tb_message_list *list, uint32_t n_nodes,
	int64_t begin_ns) TB_MUST_USE;
void tb_causes_fini(struct tb_causes *causes);
void tb_causes_cool(const struct tb_causes *causes);

// Messages that ask before they send: rules L13 to L15 of infer.h. A request
// is answered, and the answer allows the data.

enum tb_message_role { TB_ROLE_NONE, TB_ROLE_REQUEST, TB_ROLE_ANSWER, TB_ROLE_DATA };

// What of a rendezvous a message is.
struct tb_asked {
	uint8_t role;	  // enum tb_role
	uint32_t replied; // what an answer answers, or the answer that allows data
	uint32_t round;	  // of a request or an answer; UINT32_MAX: none
};

// A round: requests of one node to different peers that it makes in one call.
struct tb_round {
	uint32_t node;
	uint32_t first_request;
	uint32_t earliest; // the first of its messages: answers may leave before
	uint32_t first, n; // what it waits for, in rows of the causes
	int64_t gap_ns;	   // of computation
	int64_t began_ns;
};

struct tb_rendezvous {
	struct tb_asked *of; // by message
	struct tb_round *rounds;
	size_t n_rounds, rounds_room;
};

// tb_rendezvous_find finds rendezvous, and replaces the causes of their data. Time
// begins at `begin_ns`.
int tb_rendezvous_find(struct tb_rendezvous *rendezvous, struct tb_causes *causes,
	const struct tb_message_list *list, uint32_t n_nodes,
	int64_t begin_ns) TB_MUST_USE;
void tb_rendezvous_fini(struct tb_rendezvous *rendezvous);

// Messages of one ordered pair and size, or place in the program, which are taken for
// repetitions of one event: rule L7 of infer.h.

// The messages of an ordered pair are by_pair[first] to by_pair[first + n - 1], in the
// order in which they left.
struct tb_ordered_pair {
	uint32_t source, destination;
	uint32_t first, n;
};

// The classes of the messages of one node. The members of class c are members[first[c]]
// to members[first[c + 1] - 1], in the order in which they left.
struct tb_classes {
	uint32_t node;
	uint32_t n;
	uint32_t *first;
	uint32_t *members;
	uint32_t *of;		 // by message: its class
	uint32_t *place;	 // by message: its place within the class
	bool *by_place;		 // by message: its class is that of its place
	uint32_t sent, sent_end; // the node sends those from `sent` on, before `sent_end`
	uint32_t *got;		 // classes that reach it
	uint32_t n_got;
	uint32_t n_pairs;
	struct tb_ordered_pair *pairs; // ordered by source, then destination
	uint32_t *by_pair;
};

// tb_message_places makes the places of all messages, for tb_classes_find; NULL without
// memory. The caller frees them.
uint64_t *tb_message_places(const struct tb_message_list *list, uint32_t n_nodes);

// tb_classes_find takes a list of all messages from and to `node`, and their places.
int tb_classes_find(struct tb_classes *classes, const struct tb_message_list *list,
	const uint64_t *places, uint32_t node) TB_MUST_USE;
void tb_classes_fini(struct tb_classes *classes);

static inline uint32_t tb_classes_size(const struct tb_classes *classes, uint32_t c)
{
	return classes->first[c + 1] - classes->first[c];
}

// Which events precede each message of a class in every repetition: rule L8 of
// infer.h.

#define TB_RECURS_FROM 4 // repetitions of an event that show a rule

// What comes before each member of the class in question: deliveries to its source, or
// calls of that, each the `event` at a place among `n_others`.
struct tb_precedence {
	uint32_t class; // that these are, or UINT32_MAX: messages of a pair
	bool is_call;
	const uint32_t *others;
	uint32_t n_others;
	size_t places; // where those of the members begin
};

// Of each member of the class in question, while a precedence is looked for. Where two:
// what came before its call for sure, and what may have.
struct tb_steps {
	int64_t *rows; // room for all of these
	size_t rows_room;
	int64_t *came[2];
	int64_t *due;	   // that keep step with the members
	int64_t *ahead[2]; // came, less due
	int64_t *tried;	   // places
	bool *seen;	   // its call is not hidden
	size_t seen_room;
};

struct tb_precedences {
	struct tb_precedence *rows;
	size_t n, room;
	struct tb_steps steps;
	int64_t *places; // below 0: none
	size_t n_places, places_room;
	int64_t *due; // by message of a pair that is answered: see tb_precedences_begin
};

// tb_precedences_begin finds for each message of a pair, of which as many come back, the
// place of the last of these that regularly came before it.
int tb_precedences_begin(struct tb_precedences *precedences,
	const struct tb_classes *classes, const struct tb_message_list *list) TB_MUST_USE;

// tb_precedence_is_early returns whether a delivery came before it was due: before the
// other messages of its pair come at the place of `message`.
bool tb_precedence_is_early(const struct tb_precedences *precedences,
	const struct tb_classes *classes, const struct tb_message_list *list,
	uint32_t event, uint32_t message);

// tb_precedences_find replaces the rows by those of `class`. Cost: the members of all
// classes of its source that are about as many, or the messages of its pairs.
int tb_precedences_find(struct tb_precedences *precedences,
	const struct tb_classes *classes, const struct tb_message_list *list,
	uint32_t class) TB_MUST_USE;
void tb_precedences_fini(struct tb_precedences *precedences);

// tb_precedence_event returns what comes before a message of the class, or UINT32_MAX
// when there is none, or it came later this time.
uint32_t tb_precedence_event(const struct tb_precedences *precedences, size_t row,
	const struct tb_classes *classes, const struct tb_message_list *list,
	uint32_t message);

#endif
