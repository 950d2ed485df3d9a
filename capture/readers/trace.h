// The formats of traces, in one table: what identifies each, and who reads it.
//
// A reader's probe is shown the name of a file or folder and the first bytes of the file,
// decompressed; its read makes a job or packets of one or several paths. A new format is
// a new row. A results store is not a trace. One thread at a time per object.
#ifndef TB_TRACE_H
#define TB_TRACE_H

#include "bytes.h"
#include "job.h"
#include "packets.h"

enum tb_trace_kind { TB_TRACE_PACKETS, TB_TRACE_JOB };

// How sure a probe is. MAYBE: what it was shown is too little to know.
enum tb_trace_match { TB_TRACE_NO, TB_TRACE_MAYBE, TB_TRACE_SURE };

struct tb_trace_look {
	const char *path;
	bool is_folder;
	struct tb_bytes first; // up to TB_INFILE_PEEK_MAX bytes; none of a folder
};

struct tb_trace; // below
struct tb_trace_request;
struct tb_trace_stream; // opaque: the file that was probed, opened

struct tb_trace_reader {
	const char *name; // of the format, in messages and stores
	enum tb_trace_kind kind;
	enum tb_trace_match (*probe)(const struct tb_trace_look *look);
	int (*read)(struct tb_trace *trace, const struct tb_trace_request *request,
		const struct tb_trace_stream *stream, struct tb_error *error);
};

struct tb_trace_request {
	const char *const *paths;      // of one trace; "-" is standard input
	size_t n;		       // more than one: packets, which are merged
	enum tb_trace_kind stdin_kind; // what "-" holds
	const struct tb_packets_options *packets; // NULL: find packets, do not open them
};

struct tb_trace {
	const struct tb_trace_reader *reader;
	struct tb_job *job; // of kind TB_TRACE_JOB; the caller frees it
	struct tb_packets
		*packets; // of kind TB_TRACE_PACKETS; likewise; NULL: not opened
};

// tb_trace_find returns the surest reader of a file or folder, the first of equally sure
// ones. TB_EFOREIGN when no format is known by it, TB_EFORMAT when it is empty or its
// compressed data is damaged where it begins, TB_EIO when it cannot be read.
int tb_trace_find(const struct tb_trace_reader **reader, const char *path,
	struct tb_error *error) TB_MUST_USE;

// tb_trace_read finds the reader of the first path and reads the trace. Errors as of
// tb_trace_find and of the reader. On failure `trace` holds nothing to free.
int tb_trace_read(struct tb_trace *trace, const struct tb_trace_request *request,
	struct tb_error *error) TB_MUST_USE;

// tb_trace_formats writes "a packet capture (pcap, pcapng) or a job (GOAL, flow list)"
// for messages, with `joint` for " or "; 128 bytes suffice. The buffer is returned.
char *tb_trace_formats(const char *joint, char *buffer, size_t size);

// tb_job_read reads a job of whatever format, "-" for standard input. Errors as of
// tb_trace_read; TB_EFOREIGN for packets, too.
int tb_job_read(
	struct tb_job **job, const char *path, struct tb_error *error) TB_MUST_USE;

#endif
