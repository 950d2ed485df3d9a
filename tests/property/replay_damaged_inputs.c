// What readers make of the files of the fuzz corpora when numbers, bytes and lines of
// them are other than they were: jobs, networks and refusals.
//
// Each file is changed in random places, many times over, and read. A hash of all that
// came of it is pinned in tests/golden/damaged_inputs.txt, a line for each file, so that
// no change of a reader, of its limits or of its sentences goes unseen.
#include "../viz_golden.h"
#include "benchmark.h"
#include "counters.h"
#include "fabric_file_write.h"
#include "facts.h"
#include "goal.h"
#include "hash.h"
#include "network_open.h"
#include "preset.h"
#include "random.h"
#include "trace.h"

#include <ctype.h>
#include <dirent.h>
#include <inttypes.h>
#include <unistd.h>

enum { CHANGES = 40, BYTES_MOST = 65536, OPS_MOST = 5000 };

struct input {
	char *bytes;
	size_t n;
};

static uint32_t below(struct tb_random *random, size_t bound)
{
	return (uint32_t)tb_random_below(random, bound);
}

// line_at returns where the line of a place begins, and where the next does.
static size_t line_at(const struct input *input, size_t at, size_t *end)
{
	const char *next = memchr(input->bytes + at, '\n', input->n - at);
	*end = next ? (size_t)(next - input->bytes) + 1 : input->n;
	while (at > 0 && input->bytes[at - 1] != '\n')
		at--;
	return at;
}

static void change_digit(struct input *input, struct tb_random *random)
{
	size_t at = below(random, input->n);
	for (size_t i = 0; i < input->n; i++, at = (at + 1) % input->n)
		if (isdigit((unsigned char)input->bytes[at])) {
			input->bytes[at] = (char)('0' + below(random, 10));
			return;
		}
}

static void change_line(struct input *input, struct tb_random *random, bool twice)
{
	size_t end, begin = line_at(input, below(random, input->n), &end);
	size_t n = end - begin;
	if (twice && input->n + n <= BYTES_MOST) {
		memmove(input->bytes + end, input->bytes + begin, input->n - begin);
		input->n += n;
	} else if (!twice) {
		memmove(input->bytes + begin, input->bytes + end, input->n - end);
		input->n -= n;
	}
}

static void change(struct input *input, struct tb_random *random)
{
	static const char marks[] = " \t\n\",:;{}[]()<>-#=x0.\1";
	switch (input->n == 0 ? 15 : below(random, 16)) {
	case 8:
	case 9:
		change_line(input, random, false);
		break;
	case 10:
	case 11:
		change_line(input, random, true);
		break;
	case 12:
	case 13:
		input->bytes[below(random, input->n)] =
			marks[below(random, sizeof marks - 1)];
		break;
	case 14:
		input->n = below(random, input->n);
		break;
	case 15:
		break;
	default:
		change_digit(input, random);
	}
}

static void tell_error(FILE *to, const struct tb_error *error)
{
	fprintf(to, "%d %d %" PRIu64 " %s\n", (int)error->code, (int)error->place,
		error->at, error->text);
}

static void tell_job(FILE *to, const struct tb_job *job)
{
	struct tb_error error = {0};
	fprintf(to, "%" PRIu32 " ranks, %" PRIu32 " operations\n%s\n", job->n_ranks,
		job->n_ops, job->notes ? job->notes : "");
	if (job->n_ops <= OPS_MOST && tb_goal_text_write(job, to, &error) != TB_OK)
		tell_error(to, &error);
	for (uint32_t rank = 0; job->hosts && rank < job->n_ranks; rank++)
		fprintf(to, "%s\n", job->hosts[rank] ? job->hosts[rank] : "-");
}

static bool tell_trace(FILE *to, const char *path, uint32_t turn)
{
	const struct tb_packets_options packets = {
		.dedup = turn % 3, .lenient = turn % 4 != 1, .n_nodes_max = 64};
	const struct tb_reading reading = {
		.lenient = turn % 4 != 1, .clone_ranks = turn % 8 < 4 ? 0 : 4};
	const struct tb_trace_request request = {.paths = &path,
		.n = 1,
		.packets = &packets,
		.reading = &reading,
		.closed_loop = true,
		.wants_facts = turn % 2 == 0};
	struct tb_trace trace = {0};
	struct tb_error error = {0};
	const char *fact, *text;
	if (tb_trace_read(&trace, &request, &error) != TB_OK) {
		tell_error(to, &error);
		return false;
	}
	fprintf(to, "%s\n", trace.reader->name);
	for (size_t i = 0; trace.facts && tb_facts_at(trace.facts, i, &fact, &text); i++)
		fprintf(to, "%s: %s\n", fact, text);
	if (trace.job)
		tell_job(to, trace.job);
	else
		tell_error(to, &trace.refusal);
	tb_facts_free(trace.facts);
	tb_job_free(trace.job);
	tb_packets_free(trace.packets);
	return true;
}

static bool tell_network(FILE *to, const char *path, uint32_t turn)
{
	struct tb_network *net = NULL;
	struct tb_error error = {0};
	char name[64];
	snprintf(name, sizeof name, "%s%s", path, turn % 2 ? ",preset=ib-hdr" : "");
	if (tb_network_open(&net, &(struct tb_network_description){.name = name},
		    &error) != TB_OK) {
		tell_error(to, &error);
		return false;
	}
	for (uint32_t i = 0; i < tb_network_n_remarks(net); i++)
		fprintf(to, "%s\n", tb_network_remark(net, i));
	tb_preset_write(tb_network_params(net), to);
	if (tb_fabric_file_write(to, net, TB_FABRIC_FILE_EDGES, &error) != TB_OK)
		tell_error(to, &error);
	tb_network_free(net);
	return true;
}

static bool tell_counters(FILE *to, const char *path, uint32_t turn)
{
	struct tb_counters counters = {0};
	struct tb_error error = {0};
	char text[400];
	FILE *stream = fopen(path, "r");
	assert_non_null(stream);
	int status = tb_counters_add(
		&counters, stream, turn % 2 ? "leaf1:eth0.txt" : "counters", &error);
	fclose(stream);
	if (status != TB_OK)
		tell_error(to, &error);
	fprintf(to, "%d %" PRId64 "\n", counters.has_time, counters.time_us);
	for (size_t i = 0; i < counters.n; i++) {
		const struct tb_counter_port *port = &counters.ports[i];
		fprintf(to, "%s", tb_counter_port_text(port, text, sizeof text));
		for (uint32_t k = 0; k < TB_N_COUNTERS; k++)
			if (port->known >> k & 1)
				fprintf(to, " %" PRIu32 " %" PRIu64 " %" PRIu64, k,
					port->values[k], port->ends[k]);
		fputc('\n', to);
	}
	tb_counters_fini(&counters);
	return status == TB_OK;
}

static bool tell_benchmark(FILE *to, const char *path, uint32_t turn)
{
	struct tb_benchmark *benchmark = NULL;
	struct tb_error error = {0};
	if (tb_benchmark_read(&benchmark, &path, 1, turn % 2 ? 8 : 0, &error) != TB_OK) {
		tell_error(to, &error);
		return false;
	}
	for (size_t i = 0; i < tb_benchmark_n_rows(benchmark); i++) {
		const struct tb_benchmark_row *row = tb_benchmark_row(benchmark, i);
		const struct tb_benchmark_table *of =
			tb_benchmark_table(benchmark, row->table);
		fprintf(to, "%s %s %s %s %" PRIu32 " %" PRIu32 " %s %zu\n", of->tool,
			of->name, of->version, of->datatype, of->n_ranks, of->n_hosts,
			of->adapter, of->line);
		for (uint32_t k = 0; of->hosts && k < of->n_hosts; k++)
			fprintf(to, "%s\n", of->host_names[k]);
		fprintf(to,
			"%d %d %" PRIu64 " %" PRIu64 " %.9g %.9g %.9g %d %d %" PRIu64
			" %" PRIu32 " %" PRIu32 " %" PRIu32 " %" PRIu32 " %zu\n",
			(int)row->kind, (int)row->op, row->bytes, row->printed_bytes,
			row->time_ns, row->algorithm_rate, row->bus_rate, row->in_place,
			row->random_neighbors, row->n_wrong, row->n_ranks, row->first,
			row->second, row->rail, row->line);
	}
	tb_benchmark_close(benchmark);
	return true;
}

static struct input read_input(const char *path)
{
	struct input input = {.bytes = calloc(1, BYTES_MOST)};
	FILE *file = fopen(path, "rb");
	assert_non_null(file);
	input.n = fread(input.bytes, 1, BYTES_MOST, file);
	fclose(file);
	return input;
}

// change_file reads a file as it is, and with one to three changes.
static void change_file(FILE *to, const char *path, const char *name,
	bool (*tell)(FILE *to, const char *path, uint32_t turn))
{
	static const char changed[] = "damaged_inputs_0";
	struct input whole = read_input(path), input = {.bytes = calloc(1, BYTES_MOST)};
	struct tb_random random;
	uint64_t hash = TB_HASH_BEGIN;
	uint32_t n_read = 0;
	tb_random_init(&random, 1, tb_hash_text(TB_HASH_BEGIN, name));
	for (uint32_t turn = 0; turn < CHANGES && whole.n < BYTES_MOST; turn++) {
		char *said = NULL;
		size_t size = 0;
		FILE *stream = open_memstream(&said, &size);
		FILE *file = fopen(changed, "wb");
		assert_true(stream && file);
		memcpy(input.bytes, whole.bytes, whole.n);
		input.n = whole.n;
		for (uint32_t i = 0; turn > 0 && i <= turn % 3; i++)
			change(&input, &random);
		assert_int_equal(fwrite(input.bytes, 1, input.n, file), input.n);
		fclose(file);
		n_read += tell(stream, changed, turn);
		fclose(stream);
		unlink(changed); // a file that is cut to be written anew is slow
		hash = tb_hash_bytes(hash, said, size);
		free(said);
	}
	fprintf(to, "%s: %" PRIu32 " read, %08" PRIx64 "\n", name, n_read,
		hash >> 32 ^ (hash & UINT32_MAX));
	free(whole.bytes);
	free(input.bytes);
}

static int is_file(const struct dirent *entry)
{
	return entry->d_type != DT_DIR;
}

static void what_becomes_of_damaged_files_is_pinned(void **state)
{
	static const struct {
		const char *folder;
		bool (*tell)(FILE *to, const char *path, uint32_t turn);
	} inputs[] = {{"data/benchmarks", tell_benchmark}, {"data/fabrics", tell_network},
		{"data/nccl", tell_trace}, {"data/recorded", tell_trace},
		{"data/recorders/flight", tell_trace},
		{"data/recorders/inspector", tell_trace},
		{"data/recorders/pickled", tell_trace}, {"data/workloads", tell_trace},
		{"fuzz/corpus/capture_benchmarks", tell_benchmark},
		{"fuzz/corpus/capture_chakra", tell_trace},
		{"fuzz/corpus/capture_counters", tell_counters},
		{"fuzz/corpus/capture_flight", tell_trace},
		{"fuzz/corpus/capture_flow_list", tell_trace},
		{"fuzz/corpus/capture_goal_binary", tell_trace},
		{"fuzz/corpus/capture_goal_text", tell_trace},
		{"fuzz/corpus/capture_infer", tell_trace},
		{"fuzz/corpus/capture_kineto", tell_trace},
		{"fuzz/corpus/capture_nccl_log", tell_trace},
		{"fuzz/corpus/capture_nccl_records", tell_trace},
		{"fuzz/corpus/capture_nsys", tell_trace},
		{"fuzz/corpus/capture_packets", tell_trace},
		{"fuzz/corpus/capture_paraver", tell_trace},
		{"fuzz/corpus/capture_tbt", tell_trace},
		{"fuzz/corpus/capture_trace", tell_trace},
		{"fuzz/corpus/capture_workloads", tell_trace},
		{"fuzz/corpus/replay_fabric", tell_network},
		{"fuzz/corpus/replay_preset", tell_network}};
	char *all = NULL;
	size_t size = 0;
	FILE *to = open_memstream(&all, &size);
	(void)state;
	assert_non_null(to);
	for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++) {
		char folder[4096], path[8192], name[512];
		struct dirent **entries;
		snprintf(folder, sizeof folder, "%s/tests/%s", getenv("TB_SOURCE"),
			inputs[i].folder);
		int n = scandir(folder, &entries, is_file, alphasort);
		assert_true(n > 0);
		for (int k = 0; k < n; k++) {
			snprintf(path, sizeof path, "%s/%s", folder, entries[k]->d_name);
			snprintf(name, sizeof name, "%s/%s", inputs[i].folder,
				entries[k]->d_name);
			change_file(to, path, name, inputs[i].tell);
			free(entries[k]);
		}
		free(entries);
	}
	fclose(to);
	assert_golden(all, "../damaged_inputs");
	free(all);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_becomes_of_damaged_files_is_pinned)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
