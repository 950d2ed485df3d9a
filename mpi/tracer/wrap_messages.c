// Point to point: sends, receives, probes.
#include "wrap.h"

struct traced_message {
	MPI_Count count;
	MPI_Datatype type;
	int peer, tag;
	MPI_Comm comm;
};

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
	int MPI_##name(const void *buffer, COUNT count, MPI_Datatype type, int to,       \
		int tag, MPI_Comm comm)                                                  \
	{                                                                                \
		struct tb_traced_call entry;                                             \
		tb_enter(&entry);                                                        \
		int result = tb_real.name(buffer, count, type, to, tag, comm);           \
		const struct traced_message message = {count, type, to, tag, comm};      \
		if (tb_leave(&entry) && result == MPI_SUCCESS)                           \
			record_send(&entry, &message, NULL, false);                      \
		return result;                                                           \
	}                                                                                \
	TB_ALIAS(name)

#define SEND_REQUEST(name, COUNT, persistent)                                            \
	int MPI_##name(const void *buffer, COUNT count, MPI_Datatype type, int to,       \
		int tag, MPI_Comm comm, MPI_Request *request)                            \
	{                                                                                \
		struct tb_traced_call entry;                                             \
		tb_enter(&entry);                                                        \
		int result = tb_real.name(buffer, count, type, to, tag, comm, request);  \
		const struct traced_message message = {count, type, to, tag, comm};      \
		if (tb_leave(&entry) && result == MPI_SUCCESS)                           \
			record_send(&entry, &message, request, persistent);              \
		return result;                                                           \
	}                                                                                \
	TB_ALIAS(name)

SEND(Send, int)
SEND(Bsend, int)
SEND(Ssend, int)
SEND(Rsend, int)
SEND_REQUEST(Isend, int, false)
SEND_REQUEST(Ibsend, int, false)
SEND_REQUEST(Issend, int, false)
SEND_REQUEST(Irsend, int, false)
SEND_REQUEST(Send_init, int, true)
SEND_REQUEST(Bsend_init, int, true)
SEND_REQUEST(Ssend_init, int, true)
SEND_REQUEST(Rsend_init, int, true)

// record_recv records a receive that is complete.
static void record_recv(
	struct tb_traced_call *entry, int from, MPI_Comm comm, const MPI_Status *status)
{
	if (status->MPI_SOURCE < 0)
		return;
	const uint64_t fields[] = {tb_comm_id(entry->lane, comm),
		(uint64_t)status->MPI_SOURCE, (uint64_t)(uint32_t)status->MPI_TAG,
		tb_bytes_received(status)};
	tb_tell_source(entry->lane, from);
	tb_lane_record(entry, TB_TBT_RECV, fields, NULL, 0);
}

// record_irecv records a receive that has begun.
static void record_irecv(struct tb_traced_call *entry, int from, MPI_Comm comm,
	MPI_Request request, bool persistent)
{
	const uint64_t fields[] = {tb_comm_id(entry->lane, comm),
		persistent ? tb_defined(request, true) : tb_started(request, true)};
	tb_tell_source(entry->lane, from);
	tb_lane_record(
		entry, persistent ? TB_TBT_RECV_INIT : TB_TBT_IRECV, fields, NULL, 0);
}

#define RECV(name, COUNT)                                                                \
	int MPI_##name(void *buffer, COUNT count, MPI_Datatype type, int from, int tag,  \
		MPI_Comm comm, MPI_Status *status)                                       \
	{                                                                                \
		struct tb_traced_call entry;                                             \
		MPI_Status own;                                                          \
		tb_enter(&entry);                                                        \
		if (status == MPI_STATUS_IGNORE)                                         \
			status = &own;                                                   \
		int result = tb_real.name(buffer, count, type, from, tag, comm, status); \
		if (tb_leave(&entry) && result == MPI_SUCCESS && from != MPI_PROC_NULL)  \
			record_recv(&entry, from, comm, status);                         \
		return result;                                                           \
	}                                                                                \
	TB_ALIAS(name)

#define RECV_REQUEST(name, COUNT, persistent)                                            \
	int MPI_##name(void *buffer, COUNT count, MPI_Datatype type, int from, int tag,  \
		MPI_Comm comm, MPI_Request *request)                                     \
	{                                                                                \
		struct tb_traced_call entry;                                             \
		tb_enter(&entry);                                                        \
		int result =                                                             \
			tb_real.name(buffer, count, type, from, tag, comm, request);     \
		if (tb_leave(&entry) && result == MPI_SUCCESS && from != MPI_PROC_NULL)  \
			record_irecv(&entry, from, comm, *request, persistent);          \
		return result;                                                           \
	}                                                                                \
	TB_ALIAS(name)

RECV(Recv, int)
RECV_REQUEST(Irecv, int, false)
RECV_REQUEST(Recv_init, int, true)

// A matched message no longer has a communicator that MPI tells of: it is remembered from
// the probe (see remember), as is the source that was asked for.
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
	int MPI_##name(void *buffer, COUNT count, MPI_Datatype type,                     \
		MPI_Message *message, MPI_Status *status)                                \
	{                                                                                \
		struct tb_traced_call entry;                                             \
		MPI_Status own;                                                          \
		const struct matched_probe probe = recall(*message);                     \
		tb_enter(&entry);                                                        \
		if (status == MPI_STATUS_IGNORE)                                         \
			status = &own;                                                   \
		int result = tb_real.name(buffer, count, type, message, status);         \
		if (tb_leave(&entry) && result == MPI_SUCCESS)                           \
			record_recv(&entry, probe.from, probe.comm, status);             \
		return result;                                                           \
	}                                                                                \
	TB_ALIAS(name)

#define IMRECV(name, COUNT)                                                              \
	int MPI_##name(void *buffer, COUNT count, MPI_Datatype type,                     \
		MPI_Message *message, MPI_Request *request)                              \
	{                                                                                \
		struct tb_traced_call entry;                                             \
		const struct matched_probe probe = recall(*message);                     \
		bool null = *message == MPI_MESSAGE_NO_PROC;                             \
		tb_enter(&entry);                                                        \
		int result = tb_real.name(buffer, count, type, message, request);        \
		if (tb_leave(&entry) && result == MPI_SUCCESS && !null)                  \
			record_irecv(&entry, probe.from, probe.comm, *request, false);   \
		return result;                                                           \
	}                                                                                \
	TB_ALIAS(name)

MRECV(Mrecv, int)
IMRECV(Imrecv, int)

// Probes: the wait is recorded, and the receive that follows tells the message.
int MPI_Probe(int from, int tag, MPI_Comm comm, MPI_Status *status)
{
	struct tb_traced_call entry;
	tb_enter(&entry);
	int result = tb_real.Probe(from, tag, comm, status);
	if (tb_leave(&entry))
		tb_lane_poll(&entry);
	return result;
}
TB_ALIAS(Probe)

int MPI_Iprobe(int from, int tag, MPI_Comm comm, int *there, MPI_Status *status)
{
	struct tb_traced_call entry;
	tb_enter(&entry);
	int result = tb_real.Iprobe(from, tag, comm, there, status);
	if (tb_leave(&entry))
		tb_lane_poll(&entry);
	return result;
}
TB_ALIAS(Iprobe)

int MPI_Mprobe(int from, int tag, MPI_Comm comm, MPI_Message *message, MPI_Status *status)
{
	struct tb_traced_call entry;
	tb_enter(&entry);
	int result = tb_real.Mprobe(from, tag, comm, message, status);
	if (tb_leave(&entry)) {
		tb_lane_poll(&entry);
		message_remember(*message, comm, from);
	}
	return result;
}
TB_ALIAS(Mprobe)

int MPI_Improbe(int from, int tag, MPI_Comm comm, int *there, MPI_Message *message,
	MPI_Status *status)
{
	struct tb_traced_call entry;
	tb_enter(&entry);
	int result = tb_real.Improbe(from, tag, comm, there, message, status);
	if (tb_leave(&entry)) {
		tb_lane_poll(&entry);
		if (*there)
			message_remember(*message, comm, from);
	}
	return result;
}
TB_ALIAS(Improbe)

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
		tb_tell_source(entry->lane, from);
	if (fields[1] || fields[4])
		tb_lane_record(entry, TB_TBT_SENDRECV, fields, NULL, 0);
}

#define SENDRECV(name, COUNT)                                                            \
	int MPI_##name(const void *out, COUNT n_out, MPI_Datatype out_type, int to,      \
		int out_tag, void *in, COUNT n_in, MPI_Datatype in_type, int from,       \
		int in_tag, MPI_Comm comm, MPI_Status *status)                           \
	{                                                                                \
		struct tb_traced_call entry;                                             \
		MPI_Status own;                                                          \
		tb_enter(&entry);                                                        \
		if (status == MPI_STATUS_IGNORE)                                         \
			status = &own;                                                   \
		int result = tb_real.name(out, n_out, out_type, to, out_tag, in, n_in,   \
			in_type, from, in_tag, comm, status);                            \
		const struct traced_message send = {n_out, out_type, to, out_tag, comm}; \
		if (tb_leave(&entry) && result == MPI_SUCCESS)                           \
			record_both(&entry, &send, from, status);                        \
		return result;                                                           \
	}                                                                                \
	TB_ALIAS(name)

#define SENDRECV_REPLACE(name, COUNT)                                                    \
	int MPI_##name(void *buffer, COUNT n, MPI_Datatype type, int to, int out_tag,    \
		int from, int in_tag, MPI_Comm comm, MPI_Status *status)                 \
	{                                                                                \
		struct tb_traced_call entry;                                             \
		MPI_Status own;                                                          \
		tb_enter(&entry);                                                        \
		if (status == MPI_STATUS_IGNORE)                                         \
			status = &own;                                                   \
		int result = tb_real.name(                                               \
			buffer, n, type, to, out_tag, from, in_tag, comm, status);       \
		const struct traced_message send = {n, type, to, out_tag, comm};         \
		if (tb_leave(&entry) && result == MPI_SUCCESS)                           \
			record_both(&entry, &send, from, status);                        \
		return result;                                                           \
	}                                                                                \
	TB_ALIAS(name)

SENDRECV(Sendrecv, int)
SENDRECV_REPLACE(Sendrecv_replace, int)

#if MPI_VERSION >= 4
SEND(Send_c, MPI_Count)
SEND(Bsend_c, MPI_Count)
SEND(Ssend_c, MPI_Count)
SEND(Rsend_c, MPI_Count)
SEND_REQUEST(Isend_c, MPI_Count, false)
SEND_REQUEST(Ibsend_c, MPI_Count, false)
SEND_REQUEST(Issend_c, MPI_Count, false)
SEND_REQUEST(Irsend_c, MPI_Count, false)
SEND_REQUEST(Send_init_c, MPI_Count, true)
SEND_REQUEST(Bsend_init_c, MPI_Count, true)
SEND_REQUEST(Ssend_init_c, MPI_Count, true)
SEND_REQUEST(Rsend_init_c, MPI_Count, true)
RECV(Recv_c, MPI_Count)
RECV_REQUEST(Irecv_c, MPI_Count, false)
RECV_REQUEST(Recv_init_c, MPI_Count, true)
MRECV(Mrecv_c, MPI_Count)
IMRECV(Imrecv_c, MPI_Count)
SENDRECV(Sendrecv_c, MPI_Count)
SENDRECV_REPLACE(Sendrecv_replace_c, MPI_Count)
#endif
