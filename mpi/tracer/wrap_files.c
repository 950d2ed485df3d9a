// Files of MPI-IO: opening, reading, writing.
//
// Of each access the file, the bytes, where in the file they begin, and the time. What a
// call that only begins an access (MPI_File_iread) gets is not known: the bytes are those
// that it asks for.
#include "wrap.h"

#include <string.h>

static struct tb_handles files = {.lock = PTHREAD_MUTEX_INITIALIZER};

enum { NAME_MAX_KEPT = 1024 };

static uint64_t file_number(MPI_File file)
{
	return (uint64_t)(uintptr_t)file;
}

// byte_at returns the byte that an offset of the file's view stands for, plus 1; 0 where
// MPI does not tell.
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
TB_ALIAS(File_open)

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
TB_ALIAS(File_close)

// What calls of these shapes have in common; `BUFFER` is const for writes.
#define READ	TB_TBT_IO_READ, void *, tb_bytes_received(status)
#define WRITE	TB_TBT_IO_WRITE, const void *, tb_bytes_of(count, type)
#define READING TB_TBT_IO_READ, void *, tb_bytes_of(count, type)
#define WRITING TB_TBT_IO_WRITE, const void *, tb_bytes_of(count, type)

#define AT_(name, WHAT, BUFFER, BYTES)                                                   \
	int MPI_File_##name(MPI_File file, MPI_Offset at, BUFFER buffer, int count,      \
		MPI_Datatype type, MPI_Status *status)                                   \
	{                                                                                \
		struct tb_traced_call entry;                                             \
		MPI_Status own;                                                          \
		tb_enter(&entry);                                                        \
		if (status == MPI_STATUS_IGNORE)                                         \
			status = &own;                                                   \
		int result = tb_real.File_##name(file, at, buffer, count, type, status); \
		if (tb_leave(&entry) && result == MPI_SUCCESS)                           \
			record_io(&entry, file, WHAT, byte_at(file, at), BYTES);         \
		return result;                                                           \
	}                                                                                \
	TB_ALIAS(File_##name)
#define AT(name, ...) AT_(name, __VA_ARGS__)

#define OWN_(name, WHAT, BUFFER, BYTES)                                                  \
	int MPI_File_##name(MPI_File file, BUFFER buffer, int count, MPI_Datatype type,  \
		MPI_Status *status)                                                      \
	{                                                                                \
		struct tb_traced_call entry;                                             \
		MPI_Status own;                                                          \
		tb_enter(&entry);                                                        \
		if (status == MPI_STATUS_IGNORE)                                         \
			status = &own;                                                   \
		uint64_t at = byte_now(&entry, file);                                    \
		int result = tb_real.File_##name(file, buffer, count, type, status);     \
		if (tb_leave(&entry) && result == MPI_SUCCESS)                           \
			record_io(&entry, file, WHAT, at, BYTES);                        \
		return result;                                                           \
	}                                                                                \
	TB_ALIAS(File_##name)
#define OWN(name, ...) OWN_(name, __VA_ARGS__)

#define SHARED_(name, WHAT, BUFFER, BYTES)                                               \
	int MPI_File_##name(MPI_File file, BUFFER buffer, int count, MPI_Datatype type,  \
		MPI_Status *status)                                                      \
	{                                                                                \
		struct tb_traced_call entry;                                             \
		MPI_Status own;                                                          \
		tb_enter(&entry);                                                        \
		if (status == MPI_STATUS_IGNORE)                                         \
			status = &own;                                                   \
		int result = tb_real.File_##name(file, buffer, count, type, status);     \
		if (tb_leave(&entry) && result == MPI_SUCCESS)                           \
			record_io(&entry, file, WHAT, 0, BYTES);                         \
		return result;                                                           \
	}                                                                                \
	TB_ALIAS(File_##name)
#define SHARED(name, ...) SHARED_(name, __VA_ARGS__)

#define I_AT_(name, WHAT, BUFFER, BYTES)                                                 \
	int MPI_File_##name(MPI_File file, MPI_Offset at, BUFFER buffer, int count,      \
		MPI_Datatype type, MPI_Request *request)                                 \
	{                                                                                \
		struct tb_traced_call entry;                                             \
		tb_enter(&entry);                                                        \
		int result =                                                             \
			tb_real.File_##name(file, at, buffer, count, type, request);     \
		if (tb_leave(&entry) && result == MPI_SUCCESS)                           \
			record_io(&entry, file, WHAT, byte_at(file, at), BYTES);         \
		return result;                                                           \
	}                                                                                \
	TB_ALIAS(File_##name)
#define I_AT(name, ...) I_AT_(name, __VA_ARGS__)

#define I_OWN_(name, WHAT, BUFFER, BYTES)                                                \
	int MPI_File_##name(MPI_File file, BUFFER buffer, int count, MPI_Datatype type,  \
		MPI_Request *request)                                                    \
	{                                                                                \
		struct tb_traced_call entry;                                             \
		tb_enter(&entry);                                                        \
		uint64_t at = byte_now(&entry, file);                                    \
		int result = tb_real.File_##name(file, buffer, count, type, request);    \
		if (tb_leave(&entry) && result == MPI_SUCCESS)                           \
			record_io(&entry, file, WHAT, at, BYTES);                        \
		return result;                                                           \
	}                                                                                \
	TB_ALIAS(File_##name)
#define I_OWN(name, ...) I_OWN_(name, __VA_ARGS__)

#define I_SHARED_(name, WHAT, BUFFER, BYTES)                                             \
	int MPI_File_##name(MPI_File file, BUFFER buffer, int count, MPI_Datatype type,  \
		MPI_Request *request)                                                    \
	{                                                                                \
		struct tb_traced_call entry;                                             \
		tb_enter(&entry);                                                        \
		int result = tb_real.File_##name(file, buffer, count, type, request);    \
		if (tb_leave(&entry) && result == MPI_SUCCESS)                           \
			record_io(&entry, file, WHAT, 0, BYTES);                         \
		return result;                                                           \
	}                                                                                \
	TB_ALIAS(File_##name)
#define I_SHARED(name, ...) I_SHARED_(name, __VA_ARGS__)

#define BEGIN_AT_(name, WHAT, BUFFER, BYTES)                                             \
	int MPI_File_##name(MPI_File file, MPI_Offset at, BUFFER buffer, int count,      \
		MPI_Datatype type)                                                       \
	{                                                                                \
		struct tb_traced_call entry;                                             \
		tb_enter(&entry);                                                        \
		int result = tb_real.File_##name(file, at, buffer, count, type);         \
		if (tb_leave(&entry) && result == MPI_SUCCESS)                           \
			record_io(&entry, file, WHAT, byte_at(file, at), BYTES);         \
		return result;                                                           \
	}                                                                                \
	TB_ALIAS(File_##name)
#define BEGIN_AT(name, ...) BEGIN_AT_(name, __VA_ARGS__)

#define BEGIN_OWN_(name, WHAT, BUFFER, BYTES)                                            \
	int MPI_File_##name(MPI_File file, BUFFER buffer, int count, MPI_Datatype type)  \
	{                                                                                \
		struct tb_traced_call entry;                                             \
		tb_enter(&entry);                                                        \
		uint64_t at = byte_now(&entry, file);                                    \
		int result = tb_real.File_##name(file, buffer, count, type);             \
		if (tb_leave(&entry) && result == MPI_SUCCESS)                           \
			record_io(&entry, file, WHAT, at, BYTES);                        \
		return result;                                                           \
	}                                                                                \
	TB_ALIAS(File_##name)
#define BEGIN_OWN(name, ...) BEGIN_OWN_(name, __VA_ARGS__)

#define BEGIN_SHARED_(name, WHAT, BUFFER, BYTES)                                         \
	int MPI_File_##name(MPI_File file, BUFFER buffer, int count, MPI_Datatype type)  \
	{                                                                                \
		struct tb_traced_call entry;                                             \
		tb_enter(&entry);                                                        \
		int result = tb_real.File_##name(file, buffer, count, type);             \
		if (tb_leave(&entry) && result == MPI_SUCCESS)                           \
			record_io(&entry, file, WHAT, 0, BYTES);                         \
		return result;                                                           \
	}                                                                                \
	TB_ALIAS(File_##name)
#define BEGIN_SHARED(name, ...) BEGIN_SHARED_(name, __VA_ARGS__)

AT(read_at, READ)
AT(write_at, WRITE)
AT(read_at_all, READ)
AT(write_at_all, WRITE)
OWN(read, READ)
OWN(write, WRITE)
OWN(read_all, READ)
OWN(write_all, WRITE)
SHARED(read_shared, READ)
SHARED(write_shared, WRITE)
SHARED(read_ordered, READ)
SHARED(write_ordered, WRITE)
I_AT(iread_at, READING)
I_AT(iwrite_at, WRITING)
I_AT(iread_at_all, READING)
I_AT(iwrite_at_all, WRITING)
I_OWN(iread, READING)
I_OWN(iwrite, WRITING)
I_OWN(iread_all, READING)
I_OWN(iwrite_all, WRITING)
I_SHARED(iread_shared, READING)
I_SHARED(iwrite_shared, WRITING)
BEGIN_AT(read_at_all_begin, READING)
BEGIN_AT(write_at_all_begin, WRITING)
BEGIN_OWN(read_all_begin, READING)
BEGIN_OWN(write_all_begin, WRITING)
BEGIN_SHARED(read_ordered_begin, READING)
BEGIN_SHARED(write_ordered_begin, WRITING)

// Calls that move no bytes of their own, but take time.
#define OTHER(name, parameters, arguments)                                               \
	int MPI_File_##name parameters                                                   \
	{                                                                                \
		struct tb_traced_call entry;                                             \
		tb_enter(&entry);                                                        \
		int result = tb_real.File_##name arguments;                              \
		if (tb_leave(&entry) && result == MPI_SUCCESS)                           \
			record_io(&entry, file, TB_TBT_IO_OTHER, 0, 0);                  \
		return result;                                                           \
	}                                                                                \
	TB_ALIAS(File_##name)

#define READ_END (MPI_File file, void *buffer, MPI_Status *status), (file, buffer, status)
#define WRITE_END                                                                        \
	(MPI_File file, const void *buffer, MPI_Status *status), (file, buffer, status)
#define END(name, ...)			  END_(name, __VA_ARGS__)
#define END_(name, parameters, arguments) OTHER(name, parameters, arguments)

END(read_at_all_end, READ_END)
END(write_at_all_end, WRITE_END)
END(read_all_end, READ_END)
END(write_all_end, WRITE_END)
END(read_ordered_end, READ_END)
END(write_ordered_end, WRITE_END)
OTHER(sync, (MPI_File file), (file))
OTHER(set_size, (MPI_File file, MPI_Offset size), (file, size))
OTHER(preallocate, (MPI_File file, MPI_Offset size), (file, size))
OTHER(set_view,
	(MPI_File file, MPI_Offset at, MPI_Datatype unit, MPI_Datatype type,
		const char *form, MPI_Info info),
	(file, at, unit, type, form, info))
