// Makes calls of the logs of all ranks.
#include "map.h"
#include "mpilog_impl.h"

#include <glob.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct reading {
	struct mpilog *logs; // by rank
	uint32_t n_ranks;
	uint64_t begin_ns;	// of the trace
	struct tb_map untagged; // pairs in groups between which tags do not count
	struct tb_calls *calls;
	struct tb_error *error;
};

static uint64_t pair_key(uint32_t group, int64_t from, int64_t to)
{
	return (uint64_t)group << 40 | (uint64_t)from << 20 | (uint64_t)to;
}

static int find_untagged(struct reading *reading)
{
	int status = TB_OK;
	for (uint32_t r = 0; r < reading->n_ranks; r++) {
		const struct mpilog *log = &reading->logs[r];
		for (size_t i = 0; i < log->n && status == TB_OK; i++) {
			const struct mpilog_call *call = &log->calls[i];
			if (call->kind == MPILOG_RECV && call->rtag == MPILOG_ANY &&
				call->from >= 0)
				status = tb_map_put(&reading->untagged,
					pair_key(call->group, call->from, r), 1);
		}
	}
	return status;
}

static uint32_t tag_of(const struct reading *reading, uint32_t group, int64_t from,
	int64_t to, int64_t tag)
{
	uint32_t found;
	bool counts = !tb_map_find(&reading->untagged, pair_key(group, from, to), &found);
	return counts && tag > 0 ? (uint32_t)tag : 0;
}

static void add(const struct reading *reading, uint32_t rank, struct mpilog_call *from,
	struct tb_call call)
{
	call.enter_ns = from->start_ns > reading->begin_ns
				? from->start_ns - reading->begin_ns
				: 0;
	from->added = tb_calls_add(reading->calls, rank, &call);
}

static void add_send(const struct reading *reading, uint32_t rank,
	struct mpilog_call *call, uint64_t calc_ns, bool starts)
{
	add(reading, rank, call,
		(struct tb_call){.kind = TB_CALL_SEND,
			.peer = (uint32_t)call->to,
			.bytes = call->bytes,
			.tag = tag_of(reading, call->group, rank, call->to, call->tag),
			.group = call->group,
			.calc_ns = calc_ns,
			.starts = starts});
}

static void add_recv(const struct reading *reading, uint32_t rank,
	struct mpilog_call *call, uint64_t calc_ns, bool starts)
{
	add(reading, rank, call,
		(struct tb_call){.kind = TB_CALL_RECV,
			.peer = (uint32_t)call->from,
			.bytes = call->bytes,
			.tag = tag_of(reading, call->group, call->from, rank, call->rtag),
			.group = call->group,
			.calc_ns = calc_ns,
			.starts = starts});
}

static void add_joint(const struct reading *reading, uint32_t rank,
	struct mpilog_call *call, uint64_t calc_ns)
{
	add(reading, rank, call,
		(struct tb_call){.kind = TB_CALL_JOINT, .calc_ns = calc_ns});
}

// add_both adds a send and a receive at once, and what waits for both.
static void add_both(
	const struct reading *reading, uint32_t rank, struct mpilog_call *call)
{
	uint32_t on[2], n = 0;
	uint64_t calc_ns = call->calc_ns;
	if (call->from >= 0) {
		add_recv(reading, rank, call, calc_ns, true);
		on[n++] = call->added;
		calc_ns = 0;
	}
	if (call->to >= 0) {
		add_send(reading, rank, call, calc_ns, true);
		on[n++] = call->added;
		calc_ns = 0;
	}
	add_joint(reading, rank, call, calc_ns);
	for (uint32_t i = 0; i < n; i++)
		tb_calls_after(reading->calls, rank, on[i]);
}

static void add_wait(
	const struct reading *reading, uint32_t rank, struct mpilog_call *call)
{
	const struct mpilog *log = &reading->logs[rank];
	add_joint(reading, rank, call, call->calc_ns);
	for (size_t i = 0; i < call->n_done; i++) {
		const struct mpilog_call *on =
			&log->calls[log->done[call->first_done + i]];
		tb_calls_after(reading->calls, rank, on->added);
	}
}

static void add_call(
	const struct reading *reading, uint32_t rank, struct mpilog_call *call)
{
	if (call->kind == MPILOG_SEND && call->to >= 0)
		add_send(reading, rank, call, call->calc_ns, call->starts);
	else if (call->kind == MPILOG_RECV && call->from >= 0 && !call->gone)
		add_recv(reading, rank, call, call->calc_ns, call->starts);
	else if (call->kind == MPILOG_SENDRECV)
		add_both(reading, rank, call);
	else if (call->kind == MPILOG_WAIT)
		add_wait(reading, rank, call);
	else if (call->kind != MPILOG_COLLECTIVE)
		add_joint(reading, rank, call, call->calc_ns);
	else
		add(reading, rank, call,
			(struct tb_call){.kind = TB_CALL_COLLECTIVE,
				.op = call->op,
				.peer = call->root,
				.bytes = call->bytes,
				.group = call->group,
				.calc_ns = call->calc_ns});
}

static int add_all(struct reading *reading, const struct tb_mpilog_options *options)
{
	int status = find_untagged(reading);
	reading->begin_ns = options->from_ns ? options->from_ns : UINT64_MAX;
	for (uint32_t r = 0; r < reading->n_ranks; r++) {
		const struct mpilog *log = &reading->logs[r];
		if (!options->from_ns && log->n &&
			log->calls[0].start_ns < reading->begin_ns)
			reading->begin_ns = log->calls[0].start_ns;
	}
	for (uint32_t r = 0; r < reading->n_ranks; r++) {
		struct mpilog *log = &reading->logs[r];
		// Ranks begin with the trace, not each with its own first call.
		if (log->n && log->calls[0].start_ns > reading->begin_ns)
			log->calls[0].calc_ns =
				log->calls[0].start_ns - reading->begin_ns;
		for (size_t i = 0; i < log->n && status == TB_OK; i++)
			add_call(reading, r, &log->calls[i]);
	}
	return status == TB_OK ? tb_calls_check(reading->calls, reading->error) : status;
}

// find_logs lists the logs below a folder, in the order of ranks.
static int find_logs(glob_t *found, const char *folder, struct tb_error *error)
{
	static const char *const patterns[] = {
		"/rank*.txt", "/r[0-9]*.log", "/*/r[0-9]*.log"};
	for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
		char pattern[4096];
		snprintf(pattern, sizeof pattern, "%s%s", folder, patterns[i]);
		if (glob(pattern, 0, NULL, found) == 0)
			return TB_OK;
	}
	return tb_fail_in(error, TB_EFORMAT, folder, "holds no logs of MPI calls");
}

static int read_folder(struct tb_calls **calls, const char *folder,
	const struct tb_mpilog_options *options, struct tb_error *error)
{
	glob_t found;
	struct reading reading = {.error = error};
	struct mpilog_comms comms = {0};
	int status = find_logs(&found, folder, error);
	if (status != TB_OK)
		return status;
	reading.n_ranks = (uint32_t)found.gl_pathc;
	reading.logs = calloc(reading.n_ranks, sizeof *reading.logs);
	status = reading.logs ? tb_calls_new(&reading.calls, reading.n_ranks, error)
			      : tb_fail(error, TB_ENOMEM, "no memory for the logs");
	for (uint32_t r = 0; r < reading.n_ranks && status == TB_OK; r++)
		status = mpilog_read_rank(&reading.logs[r], reading.calls, &comms,
			found.gl_pathv[r], options, error);
	if (status == TB_OK)
		status = add_all(&reading, options);
	if (status == TB_OK)
		*calls = reading.calls;
	else
		tb_calls_free(reading.calls);
	for (uint32_t r = 0; reading.logs && r < reading.n_ranks; r++)
		mpilog_fini(&reading.logs[r]);
	free(reading.logs);
	free(comms.ids);
	free(comms.groups);
	tb_map_fini(&reading.untagged);
	globfree(&found);
	return status;
}

int tb_mpilog_read(struct tb_calls **calls, const char *path,
	const struct tb_mpilog_options *options, struct tb_error *error)
{
	static const char end[] = ".tar.zst";
	char folder[] = "/tmp/mpilog_XXXXXX", command[8192];
	size_t n = strlen(path);
	if (n < sizeof end || strcmp(path + n - strlen(end), end) != 0)
		return read_folder(calls, path, options, error);
	if (!mkdtemp(folder))
		return tb_fail_in(error, TB_EIO, folder, "cannot be made");
	snprintf(command, sizeof command, "zstd -dcq '%s' | tar -xC %s", path, folder);
	int status = system(command) == 0
			     ? read_folder(calls, folder, options, error)
			     : tb_fail_in(error, TB_EIO, path, "cannot be unpacked");
	snprintf(command, sizeof command, "rm -r %s", folder);
	if (system(command) != 0 && status == TB_OK)
		status = tb_fail_in(error, TB_EIO, folder, "cannot be removed");
	return status;
}
