#include "trace.h"

#include "benchmark.h"
#include "bytes.h"
#include "calls_job.h"
#include "capture_file.h"
#include "chakra.h"
#include "flow_list.h"
#include "goal.h"
#include "infer.h"
#include "infile.h"
#include "input_files.h"
#include "kineto.h"
#include "library.h"
#include "mpi_text.h"
#include "nccl_log.h"
#include "node_xml.h"
#include "nsys_export.h"
#include "otf2_trace.h"
#include "paraver.h"
#include "recorders.h"
#include "simai.h"
#include "status.h"
#include "tbt_read.h"
#include "units.h"
#include "unpacked.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// Formats that are recognised and not read, in one table, so that a refusal names what a
// file is and what to give instead.

// A format is recognised by the end of a file's name, or by its first bytes: what they
// begin with, what they hold, or both.
struct foreign {
	const char *ending, *begins, *holds;
	const char *sentence;
};

static const struct foreign foreign_formats[] = {
	{NULL, "# darshan log version", NULL,
		"is what darshan-parser prints: which files a job read and wrote, "
		"not its messages; 'tailback synth io' models such traffic"},
	{".darshan", NULL, NULL,
		"is a log of Darshan: which files a job read and wrote, not its "
		"messages; 'tailback synth io' models such traffic"},
	{".nsys-rep", NULL, NULL,
		"is a report of Nsight Systems: export it with 'nsys export -t sqlite'"},
	{".qdrep", NULL, NULL,
		"is a report of Nsight Systems: export it with 'nsys export -t sqlite'"},
	{".qdstrm", NULL, NULL,
		"is an unfinished report of Nsight Systems: import it with "
		"QdstrmImporter, then export it with 'nsys export -t sqlite'"},
	{".ncu-rep", NULL, NULL,
		"is a report of Nsight Compute: how single kernels ran, not what "
		"was sent; Nsight Systems traces that"},
	{NULL, "\x80", "device_traces",
		"is a snapshot of PyTorch's memory, not a profile: what is sent is "
		"in the traces of torch.profiler"},
	{NULL, "\x80", "segments",
		"is a snapshot of PyTorch's memory, not a profile: what is sent is "
		"in the traces of torch.profiler"},
	{".xplane.pb", NULL, NULL,
		"is a profile of XLA (JAX, TensorFlow), which names operations, not "
		"bytes sent: trace the job with NCCL_DEBUG=INFO "
		"NCCL_DEBUG_SUBSYS=INIT,COLL"},
	{NULL, "{\"rocprofiler-sdk-tool\"", NULL,
		"is what rocprofv3 writes: kernels of a GPU, not what was sent, "
		"which torch.profiler and the log of RCCL tell (NCCL_DEBUG=INFO "
		"NCCL_DEBUG_SUBSYS=INIT,COLL)"},
	{NULL, NULL, "time across ranks (ms)",
		"is Megatron's log: times of steps, without what was sent: "
		"torch.profiler and NCCL's log (NCCL_DEBUG=INFO "
		"NCCL_DEBUG_SUBSYS=INIT,COLL) tell that"},
	{NULL, NULL, "Comm. Op  ",
		"is DeepSpeed's summary of communication: sums, without their order; "
		"with \"verbose\" in comms_logger it logs each call, which is read"},
	{NULL, "nccl_", "_bandwidth_gbs{",
		"is what NCCL's inspector exports to Prometheus: the last figures "
		"alone; without NCCL_INSPECTOR_PROM_DUMP it writes each call, which is "
		"read"},
	{".dumpi-bin", NULL, NULL,
		"is a trace of DUMPI: print the file of each rank with dumpi2ascii, to "
		"NAME-RANK.txt, and give these"},
	{NULL, NULL, "fileprefix=dumpi",
		"is the description of a trace of DUMPI: print the file of each rank "
		"with dumpi2ascii, to NAME-RANK.txt, and give these"},
	{NULL, "UTJH", NULL,
		"is a trace of Netrace, messages of the caches on a chip, as BookSim "
		"replays it: no job of a cluster"},
	{NULL, NULL, "injection_rate =",
		"is a configuration of BookSim, not a trace: 'tailback synth' makes "
		"such traffic"},
	{NULL, NULL, "import sst",
		"is a script of SST, not a trace: traces that it replays are DUMPI's, "
		"which are read as dumpi2ascii prints them; 'tailback synth' makes "
		"patterns like Ember's"},
	{NULL, NULL, "[JOB_ID]",
		"is a list of Ember's motifs (SST), not a trace: 'tailback synth' makes "
		"patterns like them"},
	{NULL, NULL, "\"scheduling-policy\"",
		"is a system configuration of ASTRA-sim, not a trace: its workloads "
		"are (Chakra's .et files, or the text of layers)"},
	{NULL, NULL, "<graphs version=",
		"is NCCL's graph of channels (NCCL_GRAPH_DUMP_FILE), not a trace: "
		"its log is (NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,COLL)"},
	{NULL, "@ mpiP", NULL,
		"is a report of mpiP: sums of a job, without its order; 'tailback "
		"trace' or Score-P record it"},
	{NULL, NULL, "ipm_version=",
		"is a profile of IPM: sums of a job, without its order; 'tailback "
		"trace' or Score-P record it"},
	{".cubex", NULL, NULL,
		"is a profile of Score-P: sums of a job, without its order; with "
		"SCOREP_ENABLE_TRACING=true it writes a trace (OTF2)"},
	{".otf", NULL, NULL,
		"is a trace in OTF 1: record anew with Score-P, which writes OTF2"},
	{".slog2", NULL, NULL,
		"is a trace of Jumpshot (SLOG-2): 'tailback trace' or Score-P "
		"record anew"},
	{".clog2", NULL, NULL,
		"is a trace of MPE (CLOG-2): 'tailback trace' or Score-P record anew"},
	{".stf", NULL, NULL,
		"is a trace of Intel's Trace Analyzer: 'tailback trace' or Score-P "
		"record anew"},
	{".perfetto-trace", NULL, NULL,
		"is a trace of Perfetto in protobuf: torch.profiler's own export is "
		"JSON, which is read"},
	{NULL, "PERFILE2", NULL,
		"is a recording of perf: where processors spent their time, not "
		"what was sent"},
};
#define N_FORMATS (sizeof foreign_formats / sizeof *foreign_formats)

// Of a log of Darshan: its version in eight bytes, then a number, in either byte order
// (darshan-log-format.h).
#define DARSHAN_MAGIC UINT64_C(6567223)

static bool is_format(
	const struct foreign *format, const char *path, struct tb_bytes first)
{
	size_t n = format->ending ? strlen(format->ending) : 0, length = strlen(path);
	if (n > 0 && length > n && strcmp(path + length - n, format->ending) == 0)
		return true;
	n = format->begins ? strlen(format->begins) : 0;
	if (n == 0 && !format->holds)
		return false;
	return first.n >= n &&
	       memcmp(first.data, format->begins ? format->begins : "", n) == 0 &&
	       (!format->holds ||
		       memmem(first.data, first.n, format->holds, strlen(format->holds)));
}

static const struct foreign *find_foreign(const char *path, struct tb_bytes first)
{
	uint64_t magic;
	if (tb_bytes_u64(first, 8, &magic) &&
		(magic == DARSHAN_MAGIC || __builtin_bswap64(magic) == DARSHAN_MAGIC))
		path = ".x.darshan";
	if (strncmp(basename(path), "dumpi-", 6) == 0 && strstr(path, ".bin"))
		path = ".x.dumpi-bin"; // its header has no magic number
	for (size_t i = 0; i < N_FORMATS; i++)
		if (is_format(&foreign_formats[i], path, first))
			return &foreign_formats[i];
	return NULL;
}

// The probed file, open.
struct tb_trace_stream {
	struct tb_opened_input in; // none: a folder, or packets on standard input
	const char *name;
	bool is_stdin;
	struct tb_unpacked *unpacked; // NULL: it was no archive
};

// Traces of what ranks called: the job that is made of them, and what else they record.

// read_facts reads what the files record beside calls, if that is wanted.
static int read_facts(struct tb_trace *trace, const struct tb_trace_request *request,
	const struct tb_reading *reading, struct tb_error *error)
{
	if (!request->wants_facts || !trace->reader->facts)
		return TB_OK;
	int status = tb_facts_new(&trace->facts, error);
	TB_THEN(status, trace->reader->facts(trace->facts, reading, request->paths,
				request->n, error));
	if (status != TB_OK) {
		tb_facts_free(trace->facts);
		trace->facts = NULL;
	}
	return status;
}

// A summary of a trace with facts makes no job of more operations.
#define SUMMARY_OPERATIONS (UINT64_C(1) << 23)

// refuse_large refuses, where facts are wanted, to make a job of very many operations: a
// ring's, of a collective call in n ranks, are 2 (n - 1) sends and as many receives.
static int refuse_large(const struct tb_trace *trace,
	const struct tb_trace_request *request, const struct tb_calls *calls,
	struct tb_error *error)
{
	uint64_t n_operations = 0, n_calls = 0;
	for (uint32_t rank = 0; rank < tb_calls_n_ranks(calls); rank++) {
		uint32_t n;
		const struct tb_call *of = tb_calls_of(calls, rank, &n);
		n_calls += n;
		for (uint32_t i = 0; i < n; i++)
			n_operations += of[i].kind == TB_CALL_COLLECTIVE
						? 4 * (uint64_t)tb_calls_members(
							      calls, of[i].group)
								  .n
						: 1;
	}
	if (!trace->facts || n_operations <= SUMMARY_OPERATIONS)
		return TB_OK;
	return tb_fail_in(error, TB_EFORMAT, request->paths[0],
		"its %s would be more than %" PRIu64
		" million operations, too many for a summary: 'tailback convert' and "
		"'tailback replay' make the job",
		TB_COUNTED_TEXT(n_calls, "call"), n_operations / 1000000);
}

// trace_read_calls makes a job of what the row's reader found the ranks to have
// called. It opens the paths itself: they may be a folder, or several.
static int trace_read_calls(struct tb_trace *trace,
	const struct tb_trace_request *request, struct tb_trace_stream *stream,
	struct tb_error *error)
{
	struct tb_reading reading = {0};
	struct tb_calls *calls = NULL;
	const char *made = NULL;
	if (stream->is_stdin)
		return tb_fail_in(error, TB_EUSAGE, stream->name,
			"is a trace (%s), which is read from files", trace->reader->name);
	if (request->n > 1 && !trace->reader->joins)
		return tb_fail_in(error, TB_EUSAGE, request->paths[0],
			"is a trace (%s), which is read alone", trace->reader->name);
	if (request->reading)
		reading = *request->reading;
	if (reading.clone_ranks && !trace->reader->clones)
		return tb_fail_in(error, TB_EUSAGE, request->paths[0],
			"is a trace (%s) with all its ranks: --clone-ranks is for "
			"Kineto, Chakra and logs of NCCL, which may have some",
			trace->reader->name);
	if (!reading.stop)
		reading.stop = request->stop;
	int status = read_facts(trace, request, &reading, error);
	TB_THEN(status, trace->reader->calls(&calls, &reading, request->paths, request->n,
				&made, error));
	TB_THEN(status, refuse_large(trace, request, calls, error));
	TB_THEN(status, tb_calls_job(calls, request->paths[0], made, &reading,
				&trace->job, error));
	if (status == TB_OK)
		trace->job->form = trace->reader->name;
	tb_calls_free(calls);
	if (status == TB_EFORMAT) {
		// Add to a refusal that a log has a benchmark's table, too.
		const char *path = request->paths[0];
		const char *tool = error ? tb_benchmark_tool(path) : NULL;
		size_t n = error ? strlen(error->text) : 0;
		if (tool)
			snprintf(error->text + n, sizeof error->text - n,
				"; its table of %s is compared by 'tailback expect %s -n "
				"NETWORK'",
				tool, path);
	}
	if (status == TB_OK || !trace->facts)
		return status;
	// The files may be fine, but no job can be made of them: then keep the facts.
	if ((status == TB_EFORMAT || status == TB_EUSAGE) && error) {
		trace->refusal = *error;
		return TB_OK;
	}
	tb_facts_free(trace->facts);
	trace->facts = NULL;
	return status;
}

static bool begins_pcap(struct tb_bytes first)
{
	return tb_capture_kind(first) == TB_CAPTURE_KIND_PCAP;
}

static bool begins_pcapng(struct tb_bytes first)
{
	return tb_capture_kind(first) == TB_CAPTURE_KIND_PCAPNG;
}

static bool stands_at(struct tb_bytes text, size_t at, const char *word)
{
	size_t n = strlen(word);
	return tb_bytes_have(text, at, n) && memcmp(text.data + at, word, n) == 0;
}

// skip_to returns the offset after the next `end`, or the end of the text.
static size_t skip_to(struct tb_bytes text, size_t at, const char *end)
{
	while (at < text.n && !stands_at(text, at, end))
		at++;
	return at < text.n ? at + strlen(end) : text.n;
}

// probe_word searches for `word` after blanks and comments. A comment goes from
// `line_comment` to the end of the line; if that is "//", C's other comments count too.
static enum tb_trace_match probe_word(
	struct tb_bytes text, const char *line_comment, const char *word)
{
	size_t at = 0;
	for (;;) {
		while (at < text.n && strchr(" \t\r\n", text.data[at]) && text.data[at])
			at++;
		if (stands_at(text, at, line_comment))
			at = skip_to(text, at, "\n");
		else if (*line_comment == '/' && stands_at(text, at, "/*"))
			at = skip_to(text, at + 2, "*/");
		else
			break;
	}
	if (stands_at(text, at, word))
		return TB_TRACE_SURE;
	bool shown_all = text.n < TB_INFILE_PEEK_MAX;
	bool cut = text.n - at < strlen(word);
	return cut && !shown_all ? TB_TRACE_MAYBE : TB_TRACE_NO;
}

static enum tb_trace_match probe_goal(const struct tb_trace_look *look)
{
	return probe_word(look->first, "//", "num_ranks");
}

static enum tb_trace_match probe_flow_list(const struct tb_trace_look *look)
{
	return probe_word(look->first, "#", "Nodes");
}

static enum tb_trace_match probe_otf2(const struct tb_trace_look *look)
{
	return tb_otf2_probe(look->path, look->is_folder, look->first.data, look->first.n)
		       ? TB_TRACE_SURE
		       : TB_TRACE_NO;
}

// A trace in protobuf has no magic number, so its name has to agree.
static enum tb_trace_match probe_chakra(const struct tb_trace_look *look)
{
	if (look->is_folder)
		return tb_chakra_is_folder(look->path) ? TB_TRACE_SURE : TB_TRACE_NO;
	if (tb_chakra_json_begins(look->first))
		return TB_TRACE_SURE;
	if (!tb_chakra_begins(look->first))
		return TB_TRACE_NO;
	return tb_chakra_is_named(look->path) ? TB_TRACE_SURE : TB_TRACE_MAYBE;
}

// A trace of SimGrid's, or a list of its files.
static enum tb_trace_match probe_ti(const struct tb_trace_look *look)
{
	bool is = !look->is_folder &&
		  (tb_ti_begins(look->first) || tb_ti_list_is(look->path, look->first));
	return is ? TB_TRACE_SURE : TB_TRACE_NO;
}

static enum tb_trace_match probe_nsys(const struct tb_trace_look *look)
{
	bool is = look->is_folder ? tb_nsys_is_folder(look->path)
				  : tb_nsys_is(look->path, look->first);
	return is ? TB_TRACE_SURE : TB_TRACE_NO;
}

// infer_trace makes a job of packets, or one of each of their jobs.
static int infer_trace(struct tb_trace *trace, const struct tb_trace_request *request,
	struct tb_packets *packets, struct tb_error *error)
{
	if (!request->apart)
		return tb_infer_job(packets, request->bounded, &trace->job, NULL, error);
	trace->n_jobs = tb_packets_n_jobs(packets);
	trace->jobs = calloc(trace->n_jobs + UINT64_C(1), sizeof(struct tb_job *));
	if (!trace->jobs)
		return tb_fail_memory(error, "the jobs");
	int status = tb_infer_jobs(packets, request->bounded, trace->jobs, error);
	if (status != TB_OK)
		free(trace->jobs);
	return status;
}

// read_job reads a job. If the stream itself failed (a read error, compressed data
// cut off), it reports that instead of what the reader stumbled over.
static int read_job(struct tb_trace *trace, const struct tb_trace_request *request,
	struct tb_trace_stream *stream, struct tb_error *error)
{
	struct tb_job *job = NULL;
	if (request->n != 1 || !stream->in.stream)
		return tb_fail_in(error, TB_EUSAGE, request->paths[0],
			"is a job, which must be a single file");
	int status = trace->reader->job(&job, stream->in.stream, stream->name, error);
	int cause = tb_infile_check(stream->in.file, error);
	if (status == TB_OK && cause == TB_OK) {
		job->form = trace->reader->name;
		trace->job = job;
		return TB_OK;
	}
	tb_job_free(job);
	return cause != TB_OK ? cause : status;
}

static const struct tb_trace_reader readers[] = {
	{.name = "pcap", .kind = TB_TRACE_PACKETS, .begins = begins_pcap, .joins = true},
	{.name = "pcapng",
		.kind = TB_TRACE_PACKETS,
		.begins = begins_pcapng,
		.joins = true},
	{.name = "GOAL",
		.kind = TB_TRACE_JOB,
		.probe = probe_goal,
		.job = tb_goal_text_read},
	{.name = "GOAL",
		.kind = TB_TRACE_JOB,
		.begins = tb_goal_binary_begins,
		.job = tb_goal_binary_read},
	{.name = "flow list",
		.kind = TB_TRACE_JOB,
		.probe = probe_flow_list,
		.job = tb_flow_list_read},
	{.name = "ns-3 flows",
		.kind = TB_TRACE_JOB,
		.begins = tb_flow_list_is_ns3,
		.job = tb_flow_list_read},
	{.name = "Kineto",
		.kind = TB_TRACE_JOB,
		.host = "tcp",
		.begins = tb_kineto_begins_gloo,
		.is_folder = tb_kineto_is_gloo_folder,
		.calls = tb_kineto_read,
		.joins = true,
		.clones = true},
	{.name = "Kineto",
		.kind = TB_TRACE_JOB,
		.host = "nccl",
		.begins = tb_kineto_begins,
		.is_folder = tb_kineto_is_folder,
		.calls = tb_kineto_read,
		.joins = true,
		.clones = true},
	{.name = "OTF2",
		.kind = TB_TRACE_JOB,
		.host = "mpi",
		.probe = probe_otf2,
		.calls = tb_otf2_read},
	{.name = "Chakra",
		.kind = TB_TRACE_JOB,
		.host = "nccl",
		.probe = probe_chakra,
		.calls = tb_chakra_read,
		.joins = true,
		.clones = true},
	{.name = "Paraver",
		.kind = TB_TRACE_JOB,
		.host = "mpi",
		.begins = tb_paraver_begins,
		.calls = tb_paraver_read},
	{.name = "NCCL log",
		.kind = TB_TRACE_JOB,
		.host = "nccl",
		.begins = tb_nccl_begins,
		.is_folder = tb_nccl_is_folder,
		.calls = tb_nccl_read,
		.facts = tb_nccl_facts,
		.joins = true,
		.clones = true},
	{.name = "NCCL topology",
		.kind = TB_TRACE_JOB,
		.host = "nccl",
		.begins = tb_node_xml_begins,
		.calls = tb_node_xml_read,
		.facts = tb_node_xml_facts},
	{.name = "flight recorder",
		.kind = TB_TRACE_JOB,
		.host = "nccl",
		.begins = tb_flight_begins,
		.is_folder = tb_flight_is_folder,
		.calls = tb_flight_read,
		.facts = tb_flight_facts,
		.joins = true},
	{.name = "NCCL profile",
		.kind = TB_TRACE_JOB,
		.host = "nccl",
		.begins = tb_nccl_records_begin,
		.is_folder = tb_nccl_records_is_folder,
		.calls = tb_nccl_records_read,
		.facts = tb_nccl_records_facts,
		.joins = true},
	{.name = "DeepSpeed log",
		.kind = TB_TRACE_JOB,
		.host = "nccl",
		.begins = tb_deepspeed_begins,
		.calls = tb_deepspeed_read,
		.clones = true},
	{.name = "SimAI",
		.kind = TB_TRACE_JOB,
		.host = "nccl",
		.begins = tb_simai_begins,
		.calls = tb_simai_read,
		.clones = true},
	{.name = "SimGrid TI",
		.kind = TB_TRACE_JOB,
		.host = "mpi",
		.probe = probe_ti,
		.calls = tb_ti_read,
		.joins = true},
	{.name = "DUMPI text",
		.kind = TB_TRACE_JOB,
		.host = "mpi",
		.begins = tb_dumpi_text_begins,
		.is_folder = tb_dumpi_text_is_folder,
		.calls = tb_dumpi_text_read,
		.joins = true},
	{.name = "liballprof",
		.kind = TB_TRACE_JOB,
		.host = "mpi",
		.begins = tb_allprof_begins,
		.is_folder = tb_allprof_is_folder,
		.calls = tb_allprof_read,
		.joins = true},
	{.name = "nsys",
		.kind = TB_TRACE_JOB,
		.host = "nccl",
		.probe = probe_nsys,
		.calls = tb_nsys_read,
		.facts = tb_nsys_facts,
		.joins = true},
	{.name = "tbt",
		.kind = TB_TRACE_JOB,
		.host = "tcp",
		.begins = tb_tbt_is_of_sockets,
		.calls = tb_tbt_read},
	{.name = "tbt",
		.kind = TB_TRACE_JOB,
		.host = "mpi",
		.begins = tb_tbt_begins,
		.calls = tb_tbt_read},
};
#define N_READERS (sizeof readers / sizeof *readers)

const char *tb_trace_format_name(size_t i)
{
	for (size_t at = 0; at < N_READERS; at++) {
		// Two rows may read one format: GOAL as text and as binary.
		bool again =
			at > 0 && strcmp(readers[at].name, readers[at - 1].name) == 0;
		if (!again && i-- == 0)
			return readers[at].name;
	}
	return NULL;
}

const char *tb_trace_host(const char *path, const struct tb_reading *reading)
{
	const struct tb_trace_reader *reader;
	if (tb_input_is_stream(path) || tb_trace_find(&reader, path, NULL) != TB_OK ||
		!reader->host)
		return NULL;
	return reading && reading->library ? tb_library_host(reading->library)
					   : reader->host;
}

const char *tb_trace_library(size_t i)
{
	return tb_library_number(i);
}

const char *tb_trace_collective(size_t i)
{
	return i < TB_COLL_EXCHANGE ? tb_collectives[i].name : NULL;
}

char *tb_trace_formats(const char *joint, char *buffer, size_t size)
{
	static const char *const kinds[] = {"a packet capture", "a job"};
	size_t at = 0;
	for (size_t i = 0; i < N_READERS && at < size; i++) {
		bool begins = i == 0 || readers[i].kind != readers[i - 1].kind;
		// Two rows may read one format: GOAL as text and as binary.
		if (!begins && strcmp(readers[i].name, readers[i - 1].name) == 0)
			continue;
		at += (size_t)snprintf(buffer + at, size - at, "%s%s%s%s%s",
			begins && i > 0 ? ")" : "", begins && i > 0 ? joint : "",
			begins ? kinds[readers[i].kind] : "", begins ? " (" : ", ",
			readers[i].name);
	}
	if (at < size)
		snprintf(buffer + at, size - at, ")");
	return buffer;
}

// look_further finds a trace that begins with something else.
static bool look_further(
	const struct tb_trace_reader **reader, const struct tb_trace_look *look)
{
	const struct {
		tb_calls_read *calls;
		bool (*mentions)(const char *path);
	} late[] = {{tb_kineto_read, tb_kineto_mentions},
		{tb_nccl_read, tb_nccl_mentions},
		{tb_deepspeed_read, tb_deepspeed_mentions}};
	for (size_t k = 0; !look->is_folder && k < sizeof late / sizeof *late; k++) {
		if (!late[k].mentions(look->path))
			continue;
		for (size_t i = 0; i < N_READERS; i++)
			if (readers[i].calls == late[k].calls)
				*reader = &readers[i];
		return true;
	}
	return false;
}

static enum tb_trace_match match_of(
	const struct tb_trace_reader *reader, const struct tb_trace_look *look)
{
	if (reader->probe)
		return reader->probe(look);
	bool is = look->is_folder ? reader->is_folder && reader->is_folder(look->path)
				  : reader->begins(look->first);
	return is ? TB_TRACE_SURE : TB_TRACE_NO;
}

static int choose_reader(const struct tb_trace_reader **reader,
	const struct tb_trace_look *look, const char *name, struct tb_error *error)
{
	enum tb_trace_match surest = TB_TRACE_NO;
	char formats[TB_TRACE_FORMATS_SIZE];
	if (look->first.n == 0 && !look->is_folder)
		return tb_fail_in(error, TB_EFORMAT, name, "is empty: expected %s",
			tb_trace_formats(" or ", formats, sizeof formats));
	for (size_t i = 0; i < N_READERS; i++) {
		enum tb_trace_match match = match_of(&readers[i], look);
		if (match <= surest)
			continue;
		surest = match;
		*reader = &readers[i];
	}
	if (surest != TB_TRACE_NO || look_further(reader, look))
		return TB_OK;
	const struct foreign *foreign =
		look->first.n > 0 ? find_foreign(look->path, look->first) : NULL;
	if (foreign)
		return tb_fail_in(error, TB_EFORMAT, name, "%s", foreign->sentence);
	const char *tool = look->is_folder || tb_input_is_stream(look->path)
				   ? NULL
				   : tb_benchmark_tool(look->path);
	if (tool)
		return tb_fail_in(error, TB_EFORMAT, name,
			"is a table of %s: 'tailback expect %s -n NETWORK' compares it",
			tool, name);
	return tb_fail_in(error, TB_EFOREIGN, name, "neither %s",
		tb_trace_formats(" nor ", formats, sizeof formats));
}

static bool has_ending(const struct dirent *entry, const char *ending)
{
	const char *dot = strstr(entry->d_name, ending);
	return dot && dot != entry->d_name;
}

static int is_capture_name(const struct dirent *entry)
{
	return has_ending(entry, ".pcap");
}

static int is_paraver_name(const struct dirent *entry)
{
	return has_ending(entry, ".prv");
}

// find_in_folder copies the first of a folder's names that `is`; false without any.
static bool find_in_folder(
	const char *path, int (*is)(const struct dirent *), char first[256])
{
	struct dirent **names = NULL;
	int n = scandir(path, &names, is, alphasort);
	if (n > 0)
		snprintf(first, 256, "%s", names[0]->d_name);
	bool found = n > 0;
	while (n > 0)
		free(names[--n]);
	free(names);
	return found;
}

static int refuse_folder(const char *path, struct tb_error *error)
{
	char first[256];
	if (access(path, R_OK | X_OK) != 0)
		return tb_fail_in(
			error, TB_EIO, path, "cannot be read: %s", strerror(errno));
	if (find_in_folder(path, is_paraver_name, first))
		return tb_fail_in(error, TB_EFOREIGN, path,
			"is a folder with a trace of Paraver, which is given by its "
			"file: %s",
			first);
	if (find_in_folder(path, is_capture_name, first))
		return tb_fail_in(error, TB_EFOREIGN, path,
			"is a folder of packet captures, such as %s, which are given by "
			"their files (unpack them where they are in an archive): "
			"FOLDER/*.pcap, those of one job together",
			first);
	return tb_fail_in(error, TB_EFOREIGN, path,
		"is a folder without a trace: expected an OTF2 archive (NAME.otf2), "
		"Chakra's files (NAME.RANK.et, NAME.RANK.json) or profiles of PyTorch "
		"(NAME.json); "
		"captures are given by their files, and 'tailback trace --merge' takes "
		"those of its ranks (rank-*.tbr)");
}

// look_at_member opens a path, unless it is a folder, and peeks at the beginning.
static int look_at_member(struct tb_trace_look *look, struct tb_trace_stream *stream,
	const char *path, struct tb_error *error)
{
	struct stat entry;
	look->path = path;
	look->is_folder = stat(path, &entry) == 0 && S_ISDIR(entry.st_mode);
	if (look->is_folder)
		return TB_OK;
	int status = tb_infile_open(&stream->in.stream, &stream->in.file, path, error);
	return status == TB_OK ? tb_infile_peek(stream->in.file, TB_INFILE_PEEK_MAX,
					 &look->first, error)
			       : status;
}

// look_inside unpacks an archive and peeks at what is in it instead.
static int look_inside(struct tb_trace_look *look, struct tb_trace_stream *stream,
	enum tb_unpacked_part part, struct tb_error *error)
{
	if (tb_input_is_stream(look->path))
		return tb_fail_in(error, TB_EUSAGE, stream->name,
			"is an archive, which is read from a file, not through a pipe");
	int status = tb_unpacked_new(
		&stream->unpacked, &stream->in, stream->name, part, error);
	if (status != TB_OK)
		return status;
	fclose(stream->in.stream);
	stream->in = (struct tb_opened_input){NULL, NULL};
	look->first = (struct tb_bytes){NULL, 0};
	stream->name = tb_unpacked_path(stream->unpacked);
	return look_at_member(look, stream, tb_unpacked_path(stream->unpacked), error);
}

// settle_inside refuses archives of no trace, and of captures, which are opened later.
static int settle_inside(const struct tb_trace_reader *reader,
	const struct tb_trace_stream *stream, int status, struct tb_error *error)
{
	if (status == TB_OK && reader->kind == TB_TRACE_PACKETS)
		return tb_fail_in(error, TB_EFORMAT, stream->name,
			"is a capture in an archive: unpack it");
	if (status == TB_EFOREIGN && error)
		error->code = TB_EFORMAT; // an archive is nothing else
	return status == TB_EFOREIGN ? TB_EFORMAT : status;
}

// look_into_archive opens the file, unless it is a folder, and chooses its reader. The
// caller closes the stream and what was unpacked, on failure too.
static int look_into_archive(const struct tb_trace_reader **reader,
	struct tb_trace_stream *stream, const char *path, enum tb_unpacked_part part,
	struct tb_error *error)
{
	struct tb_trace_look look = {.path = path};
	stream->is_stdin = strcmp(path, "-") == 0;
	stream->name = stream->is_stdin ? "standard input" : path;
	int status = look_at_member(&look, stream, path, error);
	if (status == TB_OK && tb_unpacked_begins(look.first))
		status = look_inside(&look, stream, part, error);
	if (status == TB_OK && look.is_folder) {
		status = choose_reader(reader, &look, stream->name, NULL);
		if (status != TB_OK)
			status = refuse_folder(look.path, error);
	} else if (status == TB_OK)
		status = choose_reader(reader, &look, stream->name, error);
	if (stream->unpacked)
		status = settle_inside(*reader, stream, status, error);
	// Stores are SQLite's files.
	if (status == TB_EFOREIGN && stands_at(look.first, 0, "SQLite format 3") &&
		tb_input_is_stream(path))
		return tb_fail_in(error, TB_EFORMAT, stream->name,
			"is a store, which is read from a file, not through a pipe");
	return status;
}

static void close_stream(struct tb_trace_stream *stream, struct tb_error *error)
{
	if (stream->in.stream)
		fclose(stream->in.stream);
	tb_unpacked_free(stream->unpacked, error);
}

static int read_opened(struct tb_trace *trace, const struct tb_trace_request *request,
	struct tb_trace_stream *stream, struct tb_error *error)
{
	if (trace->reader->kind == TB_TRACE_PACKETS) {
		if (request->closed_loop) {
			// Make jobs of captures.
			const struct tb_reading reading =
				request->reading ? *request->reading
						 : (struct tb_reading){0};
			struct tb_packets_options options =
				tb_infer_options(request->packets);
			struct tb_packets *packets;
			if (strcmp(request->paths[0], "-") == 0 &&
				request->stdin_kind != TB_TRACE_PACKETS)
				return tb_fail_in(error, TB_EUSAGE, "standard input",
					"is a packet capture, from which a job is "
					"inferred: give a file");
			options.stop = request->stop;
			options.lenient = reading.lenient;
			options.opened = &stream->in;
			int status = tb_packets_open(
				&packets, request->paths, request->n, &options, error);
			if (status != TB_OK)
				return status;
			status = infer_trace(trace, request, packets, error);
			tb_packets_free(packets);
			if (status != TB_OK && error && !error->file[0])
				snprintf(error->file, sizeof error->file, "%s",
					request->paths[0]);
			return status;
		}
		if (request->packets) {
			struct tb_packets_options options = *request->packets;
			options.lenient = request->reading && request->reading->lenient;
			options.opened = &stream->in;
			return tb_packets_open(&trace->packets, request->paths,
				request->n, &options, error);
		}
		if (request->pipe && tb_input_is_stream(request->paths[0])) {
			*request->pipe = stream->in;
			stream->in = (struct tb_opened_input){NULL, NULL};
		}
		return TB_OK;
	}
	return trace->reader->job ? read_job(trace, request, stream, error)
				  : trace_read_calls(trace, request, stream, error);
}

// read_within reads what was unpacked in place of the archive.
static int read_within(struct tb_trace *trace, const struct tb_trace_request *request,
	struct tb_trace_stream *stream, struct tb_error *error)
{
	struct tb_trace_request inner = *request;
	const char *path = tb_unpacked_path(stream->unpacked);
	if (request->n > 1)
		return tb_fail_in(error, TB_EUSAGE, request->paths[0],
			"is an archive, which is read alone");
	inner.paths = &path;
	int status = read_opened(trace, &inner, stream, error);
	const char *note = tb_unpacked_note(stream->unpacked);
	if (status != TB_OK || !trace->job || !note)
		return status;
	char *notes = NULL, *given = trace->job->notes;
	if (asprintf(&notes, "%s\n%s", note, given ? given : "") < 0) {
		tb_job_free(trace->job);
		return tb_fail_memory_in(error, stream->name, "it");
	}
	free(given);
	trace->job->notes = notes;
	return TB_OK;
}

int tb_trace_find(
	const struct tb_trace_reader **reader, const char *path, struct tb_error *error)
{
	struct tb_trace_stream stream = {0};
	int status = look_into_archive(reader, &stream, path, TB_UNPACKED_LOOK, error);
	// What names the trace may come after many files.
	bool again = status == TB_EFORMAT && stream.unpacked;
	close_stream(&stream, error);
	if (!again)
		return status;
	stream = (struct tb_trace_stream){0};
	status = look_into_archive(reader, &stream, path, TB_UNPACKED_ALL, error);
	close_stream(&stream, error);
	return status;
}

int tb_trace_read(struct tb_trace *trace, const struct tb_trace_request *request,
	struct tb_error *error)
{
	struct tb_trace_stream stream = {0};
	struct tb_trace made = {.reader = &readers[0]};
	// Packets are opened by name and standard input can be read only once, so do not
	// probe it.
	bool known = (request->pipe && request->pipe->stream) ||
		     (strcmp(request->paths[0], "-") == 0 &&
			     request->stdin_kind == TB_TRACE_PACKETS);
	int status = TB_OK;
	if (request->pipe && request->pipe->stream) {
		stream.in = *request->pipe;
		*request->pipe = (struct tb_opened_input){NULL, NULL};
	}
	if (!known)
		status = look_into_archive(
			&made.reader, &stream, request->paths[0], TB_UNPACKED_ALL, error);
	if (stream.in.stream)
		tb_infile_stop_on(stream.in.file, request->stop);
	TB_THEN(status, stream.unpacked ? read_within(&made, request, &stream, error)
					: read_opened(&made, request, &stream, error));
	close_stream(&stream, error);
	if (status == TB_OK)
		*trace = made;
	return status;
}
