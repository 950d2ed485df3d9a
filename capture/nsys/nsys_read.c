// Reads the exports of a job, and what they tell beside calls.
#include "nsys_export.h"

#include "nsys_impl.h"
#include "units.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROWS_SHOWN 16

// count_kernels counts NCCL's kernels.
static int count_kernels(struct nx_file *file, uint64_t *n)
{
	sqlite3_stmt *query = NULL;
	if (!tb_nx_has(file, "CUPTI_ACTIVITY_KIND_KERNEL", "shortName"))
		return TB_OK;
	int status = tb_nx_prepare(file,
		"SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE shortName IN "
		"(SELECT id FROM StringIds WHERE value LIKE 'nccl%')",
		&query);
	if (status == TB_OK && (status = tb_nx_step(file, query)) > 0) {
		*n += (uint64_t)sqlite3_column_int64(query, 0);
		status = TB_OK;
	}
	sqlite3_finalize(query);
	return status;
}

static int nsys_refuse_empty(const struct nx_trace *trace, struct tb_error *error)
{
	char text[2][48];
	if (trace->lacks_sizes)
		return tb_fail_in(error, TB_EFORMAT, trace->file,
			"has MPI calls without their sizes and partners: record with "
			"'nsys profile --trace=mpi' of Nsight Systems 2022 or later");
	if (trace->n_unranked > 0)
		return tb_fail_in(error, TB_EFORMAT, trace->file,
			"has %" PRIu64 " MPI calls, but not which rank made them (its "
			"table MPI_RANKS)",
			trace->n_unranked);
	if (trace->n_kernels + trace->n_nccl > 0)
		return tb_fail_in(error, TB_EFORMAT, trace->file,
			"has %s and %s of NCCL, and nothing tells what they send: record "
			"with --trace=cuda,nvtx and export with --include-blobs=true, or "
			"use NCCL's log (NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,COLL) or "
			"torch.profiler",
			tb_format_counted(
				trace->n_kernels, "kernel", text[0], sizeof text[0]),
			tb_format_counted(
				trace->n_nccl, "call", text[1], sizeof text[1]));
	return tb_fail_in(error, TB_EFORMAT, trace->file,
		"has no MPI calls: record with 'nsys profile --trace=mpi,cuda,nvtx', "
		"export with 'nsys export -t sqlite'");
}

static int nsys_check_ranks(const struct nx_trace *trace, struct tb_error *error)
{
	uint32_t rank = 0, host;
	while (rank < trace->n_ranks && tb_map_find(&trace->host_of, rank, &host))
		rank++;
	if (rank >= trace->n_ranks)
		return TB_OK;
	return tb_fail_in(error, TB_EFORMAT, trace->file,
		"is of %" PRIu32 " ranks or more, of which %" PRIu32 " are there, and "
		"not rank %" PRIu32 ": give the exports of all reports",
		trace->n_ranks, trace->n_seen, rank);
}

// mpi_bytes sums what the MPI calls send, as far as one can tell them apart.
static uint64_t mpi_bytes(const struct nx_trace *trace, uint64_t *n)
{
	uint64_t bytes = 0;
	*n = 0;
	for (size_t i = 0; i < trace->n; i++)
		if (trace->calls[i].act == NX_SEND ||
			trace->calls[i].act == NX_COLLECTIVE) {
			bytes += trace->calls[i].bytes;
			++*n;
		}
	return bytes;
}

// nsys_make_calls takes the calls of MPI or of NCCL, whichever send more: where a job
// uses both, MPI is for what NCCL needs to begin, or NCCL for a part.
static int nsys_make_calls(struct nx_trace *trace, struct nx_nccl *nccl,
	const struct tb_reading *reading, struct tb_calls **calls, const char **made)
{
	char text[2][48];
	uint64_t n_mpi, bytes = mpi_bytes(trace, &n_mpi);
	bool takes_nccl = trace->n_nccl > trace->n_nccl_unsized &&
			  (n_mpi == 0 || trace->nccl_bytes > bytes);
	if (takes_nccl) {
		int status = tb_nx_nccl_calls(nccl, trace, reading, calls);
		if (status == TB_OK)
			*made = "nccl";
		if (status == TB_OK && n_mpi > 0)
			tb_calls_note(*calls,
				"%s left out, of %s: those of NCCL send more",
				tb_format_counted(
					n_mpi, "MPI call is|MPI calls are", text[0], 48),
				tb_format_size(bytes, text[1], 48));
		return status;
	}
	int status = trace->n > 0 ? nsys_check_ranks(trace, trace->error)
				  : nsys_refuse_empty(trace, trace->error);
	if (status == TB_OK)
		status = tb_nx_calls(trace, reading, calls);
	if (status == TB_OK)
		*made = NULL;
	return status;
}

int tb_nsys_read(struct tb_calls **calls, const struct tb_reading *reading,
	const char *const *paths, size_t n, const char **made, struct tb_error *error)
{
	struct nx_trace trace = {.file = paths[0], .error = error};
	struct nx_nccl *nccl = NULL;
	struct tb_trace_files files = {0};
	int status = tb_nx_files(&files, paths, n, error);
	for (size_t i = 0; i < files.n && status == TB_OK; i++) {
		const char *path = files.paths[i];
		struct nx_file file;
		status = tb_nx_open(&file, path, reading, error);
		if (status == TB_OK)
			status = tb_nx_mpi(&trace, &file);
		if (status == TB_OK)
			status = tb_nx_nccl(&nccl, &file, (uint32_t)trace.n_hosts - 1);
		if (status == TB_OK)
			status = count_kernels(&file, &trace.n_kernels);
		tb_nx_close(&file);
	}
	tb_trace_files_fini(&files);
	trace.n_nccl = tb_nx_nccl_count(nccl, &trace.n_nccl_unsized, &trace.nccl_bytes);
	if (status == TB_OK)
		status = nsys_make_calls(&trace, nccl, reading, calls, made);
	tb_nx_trace_fini(&trace);
	tb_nx_nccl_free(nccl);
	return status;
}

// What is asked for facts: a name, what must be there, and a query of text, count, bytes
// (or NULL) and nanoseconds (or NULL).
static const struct {
	const char *name, *table, *columns, *sql;
} questions[] = {
	{"host", "TARGET_INFO_SYSTEM_ENV", "name value",
		"SELECT value, NULL, NULL, NULL FROM TARGET_INFO_SYSTEM_ENV WHERE name = "
		"'Hostname' LIMIT 1"},
	{"report", "MPI_RANKS", "rank",
		"SELECT 'ranks of MPI', count(DISTINCT rank), NULL, NULL FROM MPI_RANKS"},
	{"messages", "MPI_P2P_EVENTS", "start end textId size",
		"SELECT s.value, count(*), total(e.size), total(e.end - e.start) FROM "
		"MPI_P2P_EVENTS e JOIN StringIds s ON s.id = e.textId GROUP BY s.value "
		"ORDER BY 4 DESC, 1"},
	{"collectives", "MPI_COLLECTIVES_EVENTS", "start end textId size",
		"SELECT s.value, count(*), total(e.size), total(e.end - e.start) FROM "
		"MPI_COLLECTIVES_EVENTS e JOIN StringIds s ON s.id = e.textId GROUP BY "
		"s.value ORDER BY 4 DESC, 1"},
	{"kernels", "CUPTI_ACTIVITY_KIND_KERNEL", "start end",
		"SELECT 'of all kinds', count(*), NULL, total(end - start) FROM "
		"CUPTI_ACTIVITY_KIND_KERNEL"},
	{"of NCCL", "CUPTI_ACTIVITY_KIND_KERNEL", "start end shortName",
		"SELECT s.value, count(*), NULL, total(e.end - e.start) FROM "
		"CUPTI_ACTIVITY_KIND_KERNEL e JOIN StringIds s ON s.id = e.shortName "
		"WHERE s.value LIKE 'nccl%' GROUP BY s.value ORDER BY 4 DESC, 1"},
	{"NCCL ranges", "NVTX_EVENTS", "start end text textId",
		"SELECT coalesce(e.text, s.value) AS name, count(*), NULL, total(e.end - "
		"e.start) FROM NVTX_EVENTS e LEFT JOIN StringIds s ON s.id = e.textId "
		"WHERE name LIKE 'nccl%' GROUP BY name ORDER BY 2 DESC, 1"},
};
#define N_QUESTIONS (sizeof questions / sizeof *questions)

static int facts_ask(struct tb_facts *facts, struct nx_file *file, size_t i)
{
	sqlite3_stmt *query = NULL;
	int n = 0, found = 1;
	if (!tb_nx_has(file, questions[i].table, questions[i].columns))
		return TB_OK;
	int status = tb_nx_prepare(file, questions[i].sql, &query);
	while (status == TB_OK && n < ROWS_SHOWN &&
		(found = tb_nx_step(file, query)) > 0) {
		const char *name = questions[i].name;
		char text[3][48], counted[56] = "", bytes[56] = "", time[56] = "";
		double size = sqlite3_column_double(query, 2);
		double ns = sqlite3_column_double(query, 3);
		if (sqlite3_column_type(query, 1) != SQLITE_NULL)
			snprintf(counted, sizeof counted, ": %s",
				tb_format_count((uint64_t)sqlite3_column_int64(query, 1),
					text[0], sizeof text[0]));
		if (size > 0 && size < 9e18)
			snprintf(bytes, sizeof bytes, ", %s",
				tb_format_size((uint64_t)size, text[1], sizeof text[1]));
		if (ns > 0 && ns < 9e15)
			snprintf(time, sizeof time, ", %s",
				tb_format_time(
					(tb_time_ps)(ns * 1e3), text[2], sizeof text[2]));
		tb_facts_add(facts, name, "%.200s%s%s%s", tb_nx_text(query, 0), counted,
			bytes, time);
		n++;
	}
	if (status == TB_OK && found > 0 && tb_nx_step(file, query) > 0)
		tb_facts_add(facts, questions[i].name, "and others");
	sqlite3_finalize(query);
	return found < 0 ? found : status;
}

int tb_nsys_facts(struct tb_facts *facts, const struct tb_reading *reading,
	const char *const *paths, size_t n, struct tb_error *error)
{
	struct tb_trace_files files = {0};
	int status = tb_nx_files(&files, paths, n, error);
	for (size_t i = 0; i < files.n && status == TB_OK; i++) {
		struct nx_file file;
		const char *slash = strrchr(files.paths[i], '/');
		if (files.n > 1)
			tb_facts_add(facts, "export", "%.255s",
				slash ? slash + 1 : files.paths[i]);
		status = tb_nx_open(&file, files.paths[i], reading, error);
		for (size_t q = 0; q < N_QUESTIONS && status == TB_OK; q++)
			status = facts_ask(facts, &file, q);
		tb_nx_close(&file);
	}
	tb_trace_files_fini(&files);
	return status == TB_OK ? tb_facts_check(facts, error) : status;
}
