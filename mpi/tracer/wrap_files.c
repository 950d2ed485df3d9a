// Files of MPI-IO: opening, reading, writing.
//
// Of each access the file, the bytes, where in the file they begin, and the time. What a
// call that only begins an access (MPI_File_iread) gets is not known.
#include "wrap.h"

#include <string.h>

static struct tb_handles files = {.lock = PTHREAD_MUTEX_INITIALIZER};

enum { NAME_MAX_KEPT = 1024 };

static uint64_t file_number(MPI_File file)
{
	return (uint64_t)(uintptr_t)file;
}

// byte_at returns the byte that an offset of the file's view stands for, plus 1; 0 where
// MPI does not say.
static uint64_t byte_at(MPI_File file, MPI_Offset at)
{
	MPI_Offset byte = 0;
	int result = PMPI_File_get_byte_offset(file, at, &byte);
	return result == MPI_SUCCESS && byte >= 0 ? (uint64_t)byte + 1 : 0;
}

// byte_now does the same for the process's own file pointer, before it moves.
static uint64_t byte_now(const struct tb_traced_call *entry, MPI_File file)
{
	MPI_Offset at = 0;
	if (!tb_outermost(entry) || PMPI_File_get_position(file, &at) != MPI_SUCCESS)
		return 0;
	return byte_at(file, at);
}

// record_io records an access; a file that is not known was opened within another call.
static void record_io(const struct tb_traced_call *entry, MPI_File file,
	enum tb_tbt_io what, uint64_t at, uint64_t bytes)
{
	uint64_t id;
	if (!tb_handles_find(&files, file_number(file), &id))
		return;
	const uint64_t fields[] = {id, what, at, bytes};
	tb_lane_record(entry, TB_TBT_IO, fields, NULL, 0);
}

int MPI_File_open(
	MPI_Comm comm, const char *name, int mode, MPI_Info info, MPI_File *file)
{
	struct tb_traced_call entry;
	uint64_t letters[NAME_MAX_KEPT];
	size_t n = strnlen(name, NAME_MAX_KEPT);
	tb_enter(&entry);
	int result = tb_real.File_open(comm, name, mode, info, file);
	if (!tb_leave(&entry) || result != MPI_SUCCESS)
		return result;
	for (size_t i = 0; i < n; i++)
		letters[i] = (uint8_t)name[i];
	const uint64_t comm_id = tb_comm_id(entry.lane, comm);
	const uint64_t fields[] = {tb_handles_add(&files, file_number(*file)), comm_id};
	tb_lane_record(&entry, TB_TBT_FILE, fields, letters, n);
	return result;
}
TB_ALIAS(File_open);

int MPI_File_close(MPI_File *file)
{
	struct tb_traced_call entry;
	MPI_File gone = *file;
	tb_enter(&entry);
	int result = tb_real.File_close(file);
	if (!tb_leave(&entry) || result != MPI_SUCCESS)
		return result;
	record_io(&entry, gone, TB_TBT_IO_OTHER, 0, 0);
	tb_handles_remove(&files, file_number(gone));
	return result;
}
TB_ALIAS(File_close);

// Where an access begins: at an offset that the call gives (AT), at the process's own
// file pointer (OWN), or at the pointer that all share (SHARED), of which MPI does not
// tell.
#define AT_PARAMETERS(BUFFER)                                                            \
	MPI_File file, MPI_Offset at, BUFFER buffer, int count, MPI_Datatype type
#define AT_ARGUMENTS file, at, buffer, count, type
#define AT_BEFORE
#define AT_BYTE			  byte_at(file, at)
#define OWN_PARAMETERS(BUFFER)	  MPI_File file, BUFFER buffer, int count, MPI_Datatype type
#define OWN_ARGUMENTS		  file, buffer, count, type
#define OWN_BEFORE		  uint64_t at = byte_now(&entry, file);
#define OWN_BYTE		  at
#define SHARED_PARAMETERS(BUFFER) OWN_PARAMETERS(BUFFER)
#define SHARED_ARGUMENTS	  OWN_ARGUMENTS
#define SHARED_BEFORE
#define SHARED_BYTE 0

// An access that is complete, one with a request, and one that another call ends. Of what
// has only begun, the bytes are those that are asked for.
#define COMPLETE(name, PLACE, BUFFER, what, bytes)                                       \
	TB_TRACED_AROUND(File_##name, (PLACE##_PARAMETERS(BUFFER), MPI_Status * status), \
		(PLACE##_ARGUMENTS, status), PLACE##_BEFORE TB_OWN_STATUS,               \
		record_io(&entry, file, what, PLACE##_BYTE, bytes))
#define STARTED(name, PLACE, BUFFER, what, bytes)                                        \
	TB_TRACED_AROUND(File_##name,                                                    \
		(PLACE##_PARAMETERS(BUFFER), MPI_Request * request),                     \
		(PLACE##_ARGUMENTS, request), PLACE##_BEFORE,                            \
		record_io(&entry, file, what, PLACE##_BYTE, tb_bytes_of(count, type)))
#define BEGUN(name, PLACE, BUFFER, what, bytes)                                          \
	TB_TRACED_AROUND(File_##name, (PLACE##_PARAMETERS(BUFFER)), (PLACE##_ARGUMENTS), \
		PLACE##_BEFORE,                                                          \
		record_io(&entry, file, what, PLACE##_BYTE, tb_bytes_of(count, type)))

// IO defines the reading and the writing form.
#define IO(HOW, read, write, PLACE)                                                      \
	HOW(read, PLACE, void *, TB_TBT_IO_READ, tb_bytes_received(status));             \
	HOW(write, PLACE, const void *, TB_TBT_IO_WRITE, tb_bytes_of(count, type))

IO(COMPLETE, read_at, write_at, AT);
IO(COMPLETE, read_at_all, write_at_all, AT);
IO(COMPLETE, read, write, OWN);
IO(COMPLETE, read_all, write_all, OWN);
IO(COMPLETE, read_shared, write_shared, SHARED);
IO(COMPLETE, read_ordered, write_ordered, SHARED);
IO(STARTED, iread_at, iwrite_at, AT);
IO(STARTED, iread_at_all, iwrite_at_all, AT);
IO(STARTED, iread, iwrite, OWN);
IO(STARTED, iread_all, iwrite_all, OWN);
IO(STARTED, iread_shared, iwrite_shared, SHARED);
IO(BEGUN, read_at_all_begin, write_at_all_begin, AT);
IO(BEGUN, read_all_begin, write_all_begin, OWN);
IO(BEGUN, read_ordered_begin, write_ordered_begin, SHARED);

// Calls that move no bytes of their own, but take time.
#define OTHER(name, parameters, arguments)                                               \
	TB_TRACED(File_##name, parameters, arguments,                                    \
		record_io(&entry, file, TB_TBT_IO_OTHER, 0, 0))
#define END(name, BUFFER)                                                                \
	OTHER(name, (MPI_File file, BUFFER buffer, MPI_Status * status),                 \
		(file, buffer, status))

END(read_at_all_end, void *);
END(write_at_all_end, const void *);
END(read_all_end, void *);
END(write_all_end, const void *);
END(read_ordered_end, void *);
END(write_ordered_end, const void *);
OTHER(sync, (MPI_File file), (file));
OTHER(set_size, (MPI_File file, MPI_Offset size), (file, size));
OTHER(preallocate, (MPI_File file, MPI_Offset size), (file, size));
OTHER(set_view,
	(MPI_File file, MPI_Offset at, MPI_Datatype unit, MPI_Datatype type,
		const char *form, MPI_Info info),
	(file, at, unit, type, form, info));
