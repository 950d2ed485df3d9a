// Within capture/paraver: what is read of a trace, before calls are made of it.
#ifndef TB_PARAVER_TRACE_H
#define TB_PARAVER_TRACE_H

#include "calls.h"
#include "map.h"
#include "reading.h"

#include <stdio.h>

#define PRV_NONE UINT32_MAX

// What a call does, as far as messages are concerned.
enum prv_act {
	PRV_OTHER,
	PRV_SEND,     // returns when the message is sent
	PRV_ISEND,    // starts to
	PRV_RECV,     // returns when the message is there
	PRV_IRECV,    // starts to
	PRV_SENDRECV, // both, and returns when both are done
	PRV_WAIT,     // for one message
	PRV_WAITALL,  // for several
	PRV_TEST,     // waits for nothing
	PRV_COLLECTIVE,
	PRV_UNKNOWN_COLLECTIVE,
};

struct prv_call_kind {
	uint8_t act; // enum prv_act
	uint8_t op;  // enum tb_collective_op
	bool starts; // of collectives
};

// The kinds of calls by event type and value: from the .pcf, else Extrae's numbers.
struct prv_names {
	struct tb_map kind_of; // type << 32 | value to a place in `kinds`
	struct prv_call_kind *kinds;
	size_t n, room;
};

int tb_prv_names_read(struct prv_names *names, const char *prv_path,
	struct tb_error *error) TB_MUST_USE;

// A call of a thread.
struct prv_span {
	uint64_t enter_ns, exit_ns;
	uint64_t send_bytes, recv_bytes; // of a collective
	uint64_t communicator;		 // likewise, 0: not given; then its group
	uint32_t thread;
	struct prv_call_kind kind;
	bool is_root;
	bool is_open; // not returned yet
};

struct prv_task {
	struct prv_span *spans;
	size_t n, room;
	uint32_t *open; // by thread: its last span, PRV_NONE: none; NULL: of no thread
	uint32_t n_threads, node;
	uint32_t rank; // PRV_NONE: its application does not communicate
};

struct prv_application {
	uint32_t first_task, n_tasks;
	bool communicates;
};

struct prv_message {
	uint32_t from, from_thread, to, to_thread; // tasks
	uint32_t tag;
	uint32_t send_span, recv_span, wait_span; // wait_span PRV_NONE: nobody waits
	uint32_t receive;			  // the call that receives it
	uint64_t send_ns, receive_ns, received_ns, bytes;
};

struct prv_communicator {
	uint64_t id;
	uint32_t application;
	uint32_t first_member, n; // in `members`, tasks of the application from 0
	uint32_t group;		  // of the calls; PRV_NONE: none yet
};

struct prv_trace {
	const char *file;
	uint64_t line;
	uint64_t unit_ns; // a tick of its times
	uint64_t end_ns;
	uint64_t last_ns; // of the records so far: when the last one begins
	bool is_cut;	  // the file ends within a line
	uint32_t n_nodes;
	uint64_t n_cpus; // of all nodes; 0: the header does not say
	struct prv_application *applications;
	uint32_t n_applications;
	struct prv_task *tasks;
	uint32_t n_tasks;
	size_t tasks_room;
	struct prv_message *messages;
	size_t n_messages, messages_room;
	struct prv_communicator *communicators;
	size_t n_communicators, communicators_room;
	uint64_t n_declared; // communicators, by the header; 0: it does not say
	uint32_t *members;
	size_t n_members, members_room;
	struct prv_names names;
	bool has_calls; // of MPI; states are not looked at any more
	uint32_t n_ranks;
	uint64_t n_broken; // files that break off, so 0 or 1
	uint64_t n_cut;	   // calls that were entered before the trace begins
	uint64_t n_odd; // ends of calls that had ended, and calls within which one begins
	uint64_t n_unheld; // send and receive calls without a message in the trace
	struct tb_error *error;
};

int tb_prv_no_memory(const struct prv_trace *trace);
void tb_prv_trace_fini(struct prv_trace *trace);

// tb_prv_read_header takes the first line, tb_prv_read_record any other.
int tb_prv_read_header(struct prv_trace *trace, const char *text) TB_MUST_USE;
int tb_prv_read_record(struct prv_trace *trace, const char *text) TB_MUST_USE;

static inline bool tb_prv_is_collective(const struct prv_span *span)
{
	return span->kind.act == PRV_COLLECTIVE;
}

// tb_prv_name_hosts gives ranks the names of their nodes from the .row.
int tb_prv_name_hosts(const struct prv_trace *trace, const char *prv_path,
	struct tb_calls *calls) TB_MUST_USE;

#endif
