#include "foreign.h"

#include <string.h>

// A format is recognised by the end of a file's name, or by its first bytes: what they
// begin with, what they hold, or both.
struct foreign {
	const char *ending, *begins, *holds;
	const char *sentence;
};

static const struct foreign formats[] = {
	{NULL, "# darshan log version", NULL,
		"is what darshan-parser prints: which files a job read and wrote, not "
		"its "
		"messages; 'tailback synth io' models such traffic"},
	{".darshan", NULL, NULL,
		"is a log of Darshan: which files a job read and wrote, not its "
		"messages; "
		"'tailback synth io' models such traffic"},
	{".nsys-rep", NULL, NULL,
		"is a report of Nsight Systems: export it with 'nsys export -t sqlite'"},
	{".qdrep", NULL, NULL,
		"is a report of Nsight Systems: export it with 'nsys export -t sqlite'"},
	{".qdstrm", NULL, NULL,
		"is an unfinished report of Nsight Systems: import it with "
		"QdstrmImporter, then export it with 'nsys export -t sqlite'"},
	{".ncu-rep", NULL, NULL,
		"is a report of Nsight Compute: how single kernels ran, not what was "
		"sent; Nsight Systems traces that"},
	{NULL, "\x80", "device_traces",
		"is a snapshot of PyTorch's memory, not a profile: what is sent is in "
		"the "
		"traces of torch.profiler"},
	{NULL, "\x80", "segments",
		"is a snapshot of PyTorch's memory, not a profile: what is sent is in "
		"the "
		"traces of torch.profiler"},
	{NULL, "\x80", "nccl_comm_state",
		"is a dump of PyTorch's flight recorder: the last calls before a program "
		"hung; what is sent is in the traces of torch.profiler"},
	{".xplane.pb", NULL, NULL,
		"is a profile of XLA (JAX, TensorFlow), which names operations, not "
		"bytes "
		"sent: trace the job with NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,COLL"},
	{NULL, "{\"rocprofiler-sdk-tool\"", NULL,
		"is what rocprofv3 writes: kernels of a GPU, not what was sent, which "
		"torch.profiler and the log of RCCL tell (NCCL_DEBUG=INFO "
		"NCCL_DEBUG_SUBSYS=INIT,COLL)"},
	{NULL, NULL, "<system version=",
		"is NCCL's topology of a node (NCCL_TOPO_DUMP_FILE), not a trace: its "
		"log "
		"is (NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,COLL)"},
	{NULL, NULL, "<graphs version=",
		"is NCCL's graph of channels (NCCL_GRAPH_DUMP_FILE), not a trace: its "
		"log "
		"is (NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,COLL)"},
	{NULL, "@ mpiP", NULL,
		"is a report of mpiP: sums of a job, without its order; 'tailback trace' "
		"or Score-P record it"},
	{".cubex", NULL, NULL,
		"is a profile of Score-P: sums of a job, without its order; with "
		"SCOREP_ENABLE_TRACING=true it writes a trace (OTF2)"},
	{".otf", NULL, NULL,
		"is a trace in OTF 1: record anew with Score-P, which writes OTF2"},
	{".slog2", NULL, NULL,
		"is a trace of Jumpshot (SLOG-2): 'tailback trace' or Score-P record "
		"anew"},
	{".clog2", NULL, NULL,
		"is a trace of MPE (CLOG-2): 'tailback trace' or Score-P record anew"},
	{".stf", NULL, NULL,
		"is a trace of Intel's Trace Analyzer: 'tailback trace' or Score-P "
		"record "
		"anew"},
	{".perfetto-trace", NULL, NULL,
		"is a trace of Perfetto in protobuf: torch.profiler's own export is "
		"JSON, "
		"which is read"},
	{NULL, "PERFILE2", NULL,
		"is a recording of perf: where processors spent their time, not what was "
		"sent"},
};
#define N_FORMATS (sizeof formats / sizeof *formats)

// Of a log of Darshan: its version in eight bytes, then a number, in either byte order
// (darshan-log-format.h).
#define DARSHAN_MAGIC UINT64_C(6567223)

static bool is_darshan(struct tb_bytes first)
{
	uint64_t magic;
	return tb_bytes_u64(first, 8, &magic) &&
	       (magic == DARSHAN_MAGIC || __builtin_bswap64(magic) == DARSHAN_MAGIC);
}

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
	if (is_darshan(first))
		path = ".x.darshan";
	for (size_t i = 0; i < N_FORMATS; i++)
		if (is_format(&formats[i], path, first))
			return &formats[i];
	return NULL;
}

bool tb_foreign_is(const char *path, struct tb_bytes first)
{
	return first.n > 0 && find_foreign(path, first) != NULL;
}

int tb_foreign_refuse(
	const char *name, const char *path, struct tb_bytes first, struct tb_error *error)
{
	return tb_fail_in(
		error, TB_EFORMAT, name, "%s", find_foreign(path, first)->sentence);
}
