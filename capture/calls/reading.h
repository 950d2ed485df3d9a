// How a trace of calls is read: what the user may choose (`--library`, `--collective`,
// `--lenient`, `--clone-ranks`). A zeroed struct is the default of each.
#ifndef TB_READING_H
#define TB_READING_H

#include "call_work.h"
#include "calls.h"
#include "facts.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// What GPUs of a node send with, as far as a network gives it; 0: unknown.
struct tb_gpu_node {
	uint64_t link_bytes_per_s; // of a GPU's links to the others; 0: it has none
	uint64_t nic_bytes_per_s;  // of an adapter
	uint32_t n_nics;	   // 0: one for each GPU
	uint32_t n_gpus; // of a node, whether they are used or not; 0: as many as are
};

struct tb_reading {
	// The library whose collective algorithms and protocols the job uses (library.h);
	// NULL: the one that made the trace, as far as its reader knows.
	const char *library;
	// Algorithms that take the place of the library's choice: "allreduce=ring".
	const char *const *collectives;
	size_t n_collectives;
	// Sends and receives without a counterpart, collective calls that not every
	// member made, and what lies behind the place where a file breaks off, are
	// dropped and counted instead of refused. So is the latter in captures of which a
	// job is inferred.
	bool lenient;
	// The trace has some ranks of a data-parallel job of so many; the others do what
	// these do. 0: it has all.
	uint32_t clone_ranks;
	// Rank r is on host r / per_node, wherever it ran: messages and collective calls
	// are those of a library that knows these hosts. 0: as the trace says.
	uint32_t per_node;
	// GPUs that all ran on one host will not sit on one, for lack of anything that
	// would carry messages there.
	bool spreads_host;
	// By which NCCL chooses; NULL: a usual one.
	const struct tb_gpu_node *node;
	struct tb_call_work work; // during collective calls
	// Ranks write into sockets: what one sends to another host without asking is
	// complete once the network's buffer has all of it, instead of at once.
	bool sends_wait;
	// With bounds (job.h), if ranks exchange long messages over sockets: see
	// calls_job.h.
	bool bounded;
	// Reading fails with TB_ESTOPPED once it is set; NULL: never.
	const volatile sig_atomic_t *stop;
};

// What a reader of a trace of calls does: it reads one trace, which is a file, a folder
// or several files, of which each has some of the ranks. `calls` gets what the ranks
// called, which the caller frees, and `made` the name of the library that made the trace
// (library.h), a constant, or NULL if that is unknown; both stay untouched on failure. Of
// `reading` it uses `lenient`, `clone_ranks` and `stop`; the rest is that of
// tb_calls_job. TB_EFORMAT names the file and the place in it.
typedef int tb_calls_read(struct tb_calls **calls, const struct tb_reading *reading,
	const char *const *paths, size_t n, const char **made, struct tb_error *error);

// What a reader of facts does: it adds what the same files hold beside their calls. It
// needs no calls: a file that says only how a job was wired has facts, too. Errors as of
// tb_calls_read.
typedef int tb_facts_read(struct tb_facts *facts, const struct tb_reading *reading,
	const char *const *paths, size_t n, struct tb_error *error);

// tb_reading_breaks_off settles what becomes of a file that breaks off, as `status` and
// `error` report. With reading->lenient the file has what could be read: `*n_files`
// counts it, and TB_OK is returned. Otherwise `status` is, and the sentence adds that
// --lenient would take what is whole.
int tb_reading_breaks_off(const struct tb_reading *reading, int status, uint64_t *n_files,
	struct tb_error *error) TB_MUST_USE;

// tb_reading_of_calls returns the option of a choice that means only traces of calls,
// NULL where none was made; `lenient` means inferred jobs, too.
const char *tb_reading_of_calls(const struct tb_reading *reading);

// tb_reading_note_breaks adds the note on such files to the calls, if there are any.
void tb_reading_note_breaks(struct tb_calls *calls, uint64_t n_files);

#endif
