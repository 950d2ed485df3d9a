// The trace formats, in one table: how each is recognised, and how it is read.
//
// A row gives how a trace is recognised, by the name of a file or folder and the first
// bytes of the file, decompressed, and what reads it: `job` reads a job from a stream,
// `calls` what a program's ranks called (reading.h), of which a job is made here;
// captures have neither. A new format is a new row of the table. A results store is not a
// trace. One thread at a time per object.
#ifndef TB_TRACE_H
#define TB_TRACE_H

#include "bytes.h"
#include "job.h"
#include "packets.h"
#include "reading.h"

#include <signal.h>
#include <stdio.h>

enum tb_trace_kind { TB_TRACE_PACKETS, TB_TRACE_JOB };

// How sure a probe is. MAYBE: the first bytes are too few to decide.
enum tb_trace_match { TB_TRACE_NO, TB_TRACE_MAYBE, TB_TRACE_SURE };

struct tb_trace_look {
	const char *path;
	bool is_folder;
	struct tb_bytes first; // up to TB_INFILE_PEEK_MAX bytes; empty for a folder
};

struct tb_trace_reader {
	const char *name; // of the format, for messages and stores
	enum tb_trace_kind kind;
	bool (*begins)(struct tb_bytes first);
	bool (*is_folder)(const char *path); // NULL: no folder is one
	// Replaces both where these do not decide; else NULL.
	enum tb_trace_match (*probe)(const struct tb_trace_look *look);
	int (*job)(struct tb_job **job, FILE *stream, const char *name,
		struct tb_error *error);
	tb_calls_read *calls;
	tb_facts_read *facts; // of a format that records more than calls, else NULL
	// What its processes send with, by the names that networks give such libraries
	// ([host.NAME]): "mpi", "nccl" or "tcp"; NULL: the format does not tell.
	const char *host;
	bool joins;  // several files can be one trace: captures, and a file a rank
	bool clones; // heeds clone_ranks (struct tb_reading)
};

struct tb_trace_request {
	const char *const *paths;		  // of one trace; "-" is standard input
	size_t n;				  // above 1 only for readers that join
	enum tb_trace_kind stdin_kind;		  // of the trace on standard input
	const struct tb_packets_options *packets; // NULL: do not open packets, only find
						  // them
	// Of a trace of calls, and whether captures that become a job may be damaged;
	// NULL: the defaults.
	const struct tb_reading *reading;
	bool closed_loop; // captures become a job (infer.h), opened with `packets`
	bool bounded;	  // and it gets bounds
	// What the files record beside their calls is wanted too: also where no job can
	// be made of them.
	bool wants_facts;
	bool apart; // each of the packets' jobs becomes one, in `jobs` (infer.h)
	// A capture through a pipe, which can be opened only once: kept here where
	// packets are only found, to be closed by the caller or read by a later request
	// (or as `opened` of its options). NULL: none is kept.
	struct tb_opened_input *pipe;
	// Reading a job fails with TB_ESTOPPED once it is set; NULL: never.
	const volatile sig_atomic_t *stop;
};

struct tb_trace {
	const struct tb_trace_reader *reader;
	struct tb_job *job;	    // TB_TRACE_JOB: the caller frees it
	struct tb_packets *packets; // TB_TRACE_PACKETS: the caller frees it, or NULL if
				    // not opened
	// Of a request that wants facts, from a reader that has some: the caller frees
	// them. Without a job, `refusal` says why there is none.
	struct tb_facts *facts;
	struct tb_error refusal;
	// With `apart`, instead of `job`: some may be NULL. The caller frees all.
	struct tb_job **jobs;
	uint32_t n_jobs;
};

// tb_trace_find stores the reader for a file or folder: the surest one, the first of
// equally sure ones. TB_EFOREIGN when it has none of the formats, TB_EFORMAT when it is
// empty or its compressed data is damaged at the beginning, TB_EIO when it cannot be
// read.
int tb_trace_find(const struct tb_trace_reader **reader, const char *path,
	struct tb_error *error) TB_MUST_USE;

// tb_trace_read finds the reader for the first path and reads the trace. Errors as
// tb_trace_find and the reader. On failure there is nothing to free in `trace`.
int tb_trace_read(struct tb_trace *trace, const struct tb_trace_request *request,
	struct tb_error *error) TB_MUST_USE;

// tb_trace_host returns what the processes of a trace send with, as its reader's `host`,
// or as the library of `reading` (NULL: the default) where that names one; NULL where
// neither tells, for standard input, and for what is no trace.
const char *tb_trace_host(const char *path, const struct tb_reading *reading);

// tb_trace_format_name returns the name of format i, NULL beyond the last.
const char *tb_trace_format_name(size_t i);

// tb_trace_library returns the name of library i whose algorithms --library takes, NULL
// beyond the last.
const char *tb_trace_library(size_t i);

// tb_trace_collective returns the name of operation i that --collective takes, likewise.
const char *tb_trace_collective(size_t i);

#define TB_TRACE_FORMATS_SIZE 512

// tb_trace_formats writes "a packet capture (pcap, pcapng) or a job (GOAL, flow list)"
// for messages, with `joint` in place of " or ", and returns buffer;
// TB_TRACE_FORMATS_SIZE bytes suffice.
char *tb_trace_formats(const char *joint, char *buffer, size_t size);

#endif
