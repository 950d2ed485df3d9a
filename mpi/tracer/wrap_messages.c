// Point to point: sends, receives, probes.
#include "wrap.h"

struct traced_message {
	MPI_Count count;
	MPI_Datatype type;
	int peer, tag;
	MPI_Comm comm;
};
#define MESSAGE(...) (&(const struct traced_message){__VA_ARGS__})

// record_send records a send, if it goes anywhere; `request` is NULL for a blocking one.
static void record_send(struct tb_traced_call *entry,
	const struct traced_message *message, const MPI_Request *request, bool persistent)
{
	uint64_t fields[5];
	if (message->peer == MPI_PROC_NULL)
		return;
	fields[0] = tb_comm_id(entry->lane, message->comm);
	fields[1] = (uint64_t)(uint32_t)message->peer;
	fields[2] = (uint64_t)(uint32_t)message->tag;
	fields[3] = tb_bytes_of(message->count, message->type);
	if (!request) {
		tb_lane_record(entry, TB_TBT_SEND, fields, NULL, 0);
		return;
	}
	fields[4] =
		persistent ? tb_defined(*request, false) : tb_started(*request, false);
	tb_lane_record(
		entry, persistent ? TB_TBT_SEND_INIT : TB_TBT_ISEND, fields, NULL, 0);
}

#define SEND(name, COUNT)                                                                \
	TB_TRACED(name,                                                                  \
		(const void *buffer, COUNT count, MPI_Datatype type, int to, int tag,    \
			MPI_Comm comm),                                                  \
		(buffer, count, type, to, tag, comm),                                    \
		record_send(&entry, MESSAGE(count, type, to, tag, comm), NULL, false))
#define SEND_REQUEST(name, COUNT, persistent)                                            \
	TB_TRACED(name,                                                                  \
		(const void *buffer, COUNT count, MPI_Datatype type, int to, int tag,    \
			MPI_Comm comm, MPI_Request *request),                            \
		(buffer, count, type, to, tag, comm, request),                           \
		record_send(&entry, MESSAGE(count, type, to, tag, comm), request,        \
			persistent))

// record_recv records a receive that is complete.
static void record_recv(
	struct tb_traced_call *entry, int from, MPI_Comm comm, const MPI_Status *status)
{
	if (status->MPI_SOURCE < 0)
		return;
	const uint64_t fields[] = {tb_comm_id(entry->lane, comm),
		(uint64_t)status->MPI_SOURCE, (uint64_t)(uint32_t)status->MPI_TAG,
		tb_bytes_received(status)};
	tb_note_source(entry->lane, from);
	tb_lane_record(entry, TB_TBT_RECV, fields, NULL, 0);
}

// record_irecv records a receive that has begun.
static void record_irecv(struct tb_traced_call *entry, int from, MPI_Comm comm,
	MPI_Request request, bool persistent)
{
	const uint64_t fields[] = {tb_comm_id(entry->lane, comm),
		persistent ? tb_defined(request, true) : tb_started(request, true)};
	tb_note_source(entry->lane, from);
	tb_lane_record(
		entry, persistent ? TB_TBT_RECV_INIT : TB_TBT_IRECV, fields, NULL, 0);
}

#define RECV(name, COUNT)                                                                \
	TB_TRACED_AROUND(name,                                                           \
		(void *buffer, COUNT count, MPI_Datatype type, int from, int tag,        \
			MPI_Comm comm, MPI_Status *status),                              \
		(buffer, count, type, from, tag, comm, status), TB_OWN_STATUS,           \
		if (from != MPI_PROC_NULL) record_recv(&entry, from, comm, status))
#define RECV_REQUEST(name, COUNT, persistent)                                            \
	TB_TRACED(name,                                                                  \
		(void *buffer, COUNT count, MPI_Datatype type, int from, int tag,        \
			MPI_Comm comm, MPI_Request *request),                            \
		(buffer, count, type, from, tag, comm, request),                         \
		if (from != MPI_PROC_NULL)                                               \
			record_irecv(&entry, from, comm, *request, persistent))

// A matched message no longer has a communicator that MPI would name: it is remembered
// from the probe (see remember), as is the source that was asked for.
struct matched_probe {
	MPI_Message handle;
	MPI_Comm comm;
	int from;
};
static _Thread_local struct matched_probe matched[16];
static _Thread_local unsigned n_matched;

// MPI gives a handle again once its message is received: the newest counts.
static void message_remember(MPI_Message handle, MPI_Comm comm, int from)
{
	unsigned at = 0, room = sizeof matched / sizeof *matched;
	while (at < room && at < n_matched && matched[at].handle != handle)
		at++;
	if (at == room || at == n_matched)
		at = n_matched++ % room;
	matched[at] = (struct matched_probe){handle, comm, from};
}

static struct matched_probe recall(MPI_Message handle)
{
	for (size_t i = 0; i < sizeof matched / sizeof *matched && i < n_matched; i++)
		if (matched[i].handle == handle)
			return matched[i];
	return (struct matched_probe){handle, MPI_COMM_WORLD, 0};
}

#define MRECV(name, COUNT)                                                               \
	TB_TRACED_AROUND(                                                                \
		name,                                                                    \
		(void *buffer, COUNT count, MPI_Datatype type, MPI_Message *message,     \
			MPI_Status *status),                                             \
		(buffer, count, type, message, status),                                  \
		const struct matched_probe probe = recall(*message);                     \
		TB_OWN_STATUS, record_recv(&entry, probe.from, probe.comm, status))
#define IMRECV(name, COUNT)                                                              \
	TB_TRACED_AROUND(name,                                                           \
			 (void *buffer, COUNT count, MPI_Datatype type,                  \
				 MPI_Message *message, MPI_Request *request),            \
			 (buffer, count, type, message, request),                        \
			 const struct matched_probe probe = recall(*message);            \
			 bool null = *message == MPI_MESSAGE_NO_PROC,                    \
			 if (!null) record_irecv(                                        \
				 &entry, probe.from, probe.comm, *request, false))

// Probes: the wait is recorded, and the receive that follows records the message.
#define PROBE(name, parameters, arguments, probed)                                       \
	TB_TRACED_IF(name, parameters, arguments, (void)0, true, tb_lane_poll(&entry);   \
		     probed)

PROBE(Probe, (int from, int tag, MPI_Comm comm, MPI_Status *status),
	(from, tag, comm, status), (void)0);
PROBE(Iprobe, (int from, int tag, MPI_Comm comm, int *there, MPI_Status *status),
	(from, tag, comm, there, status), (void)0);
PROBE(Mprobe,
	(int from, int tag, MPI_Comm comm, MPI_Message *message, MPI_Status *status),
	(from, tag, comm, message, status), message_remember(*message, comm, from));
PROBE(Improbe,
	(int from, int tag, MPI_Comm comm, int *there, MPI_Message *message,
		MPI_Status *status),
	(from, tag, comm, there, message, status),
	if (*there) message_remember(*message, comm, from));

// record_both records a send and a receive that go on at the same time.
static void record_both(struct tb_traced_call *entry, const struct traced_message *send,
	int from, MPI_Status *status)
{
	uint64_t fields[7] = {tb_comm_id(entry->lane, send->comm)};
	if (send->peer != MPI_PROC_NULL) {
		fields[1] = (uint64_t)(uint32_t)send->peer + 1;
		fields[2] = (uint64_t)(uint32_t)send->tag;
		fields[3] = tb_bytes_of(send->count, send->type);
	}
	if (from != MPI_PROC_NULL && status->MPI_SOURCE >= 0) {
		fields[4] = (uint64_t)status->MPI_SOURCE + 1;
		fields[5] = (uint64_t)(uint32_t)status->MPI_TAG;
		fields[6] = tb_bytes_received(status);
	}
	if (fields[4])
		tb_note_source(entry->lane, from);
	if (fields[1] || fields[4])
		tb_lane_record(entry, TB_TBT_SENDRECV, fields, NULL, 0);
}

#define SENDRECV(name, COUNT)                                                            \
	TB_TRACED_AROUND(name,                                                           \
		(const void *out, COUNT n_out, MPI_Datatype out_type, int to,            \
			int out_tag, void *in, COUNT n_in, MPI_Datatype in_type,         \
			int from, int in_tag, MPI_Comm comm, MPI_Status *status),        \
		(out, n_out, out_type, to, out_tag, in, n_in, in_type, from, in_tag,     \
			comm, status),                                                   \
		TB_OWN_STATUS,                                                           \
		record_both(&entry, MESSAGE(n_out, out_type, to, out_tag, comm), from,   \
			status))
#define SENDRECV_REPLACE(name, COUNT)                                                    \
	TB_TRACED_AROUND(name,                                                           \
		(void *buffer, COUNT n, MPI_Datatype type, int to, int out_tag,          \
			int from, int in_tag, MPI_Comm comm, MPI_Status *status),        \
		(buffer, n, type, to, out_tag, from, in_tag, comm, status),              \
		TB_OWN_STATUS,                                                           \
		record_both(&entry, MESSAGE(n, type, to, out_tag, comm), from, status))

// MESSAGES defines the forms of MPI-3 or, with _c and MPI_Count, the large ones of MPI-4.
#define MESSAGES(END, COUNT)                                                             \
	SEND(Send##END, COUNT);                                                          \
	SEND(Bsend##END, COUNT);                                                         \
	SEND(Ssend##END, COUNT);                                                         \
	SEND(Rsend##END, COUNT);                                                         \
	SEND_REQUEST(Isend##END, COUNT, false);                                          \
	SEND_REQUEST(Ibsend##END, COUNT, false);                                         \
	SEND_REQUEST(Issend##END, COUNT, false);                                         \
	SEND_REQUEST(Irsend##END, COUNT, false);                                         \
	SEND_REQUEST(Send_init##END, COUNT, true);                                       \
	SEND_REQUEST(Bsend_init##END, COUNT, true);                                      \
	SEND_REQUEST(Ssend_init##END, COUNT, true);                                      \
	SEND_REQUEST(Rsend_init##END, COUNT, true);                                      \
	RECV(Recv##END, COUNT);                                                          \
	RECV_REQUEST(Irecv##END, COUNT, false);                                          \
	RECV_REQUEST(Recv_init##END, COUNT, true);                                       \
	MRECV(Mrecv##END, COUNT);                                                        \
	IMRECV(Imrecv##END, COUNT);                                                      \
	SENDRECV(Sendrecv##END, COUNT);                                                  \
	SENDRECV_REPLACE(Sendrecv_replace##END, COUNT)

MESSAGES(, int);
#if MPI_VERSION >= 4
MESSAGES(_c, MPI_Count);
#endif
