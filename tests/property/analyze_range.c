// Random captures, most of which fit no program, on random networks: the run that is
// stored lies within its own range (rule L16 of infer.h).
#include "../capture_writer.h"
#include "random.h"
#include "recording_beside.h"
#include "run.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#define STORE	"analyze_range.db"
#define CAPTURE "analyze_range.pcap"
#define NODES	4
#define FRAMES	700
#define MSS	1448u
#define RUNS	60

// write_capture writes messages of random lengths at random times; frames of a node
// follow each other at `ns_per_byte`.
static void write_capture(struct tb_random *random, uint64_t ns_per_byte)
{
	static struct capture capture;
	uint64_t free_ns[NODES] = {0}, now_ns = 1000000;
	uint32_t sent[NODES][NODES] = {{0}};
	capture_begin(&capture, 1);
	uint32_t lengths[] = {30, MSS, 6000, 20000};
	for (int n = 0; n < FRAMES;) {
		uint32_t from = (uint32_t)tb_random_below(random, NODES);
		uint32_t to =
			(from + 1 + (uint32_t)tb_random_below(random, NODES - 1)) % NODES;
		uint32_t left = lengths[tb_random_below(random, 4)];
		now_ns += tb_random_below(random, 400000);
		if (free_ns[from] < now_ns)
			free_ns[from] = now_ns;
		for (; left > 0; n++) {
			uint32_t bytes = left < MSS ? left : MSS;
			// Frames are in the order of time but for those of one message.
			capture_tcp(&capture, free_ns[from], (uint8_t)(1 + from),
				(uint8_t)(1 + to), (uint16_t)(1000 + from * NODES + to),
				1000 + sent[from][to], bytes);
			capture.bytes[capture.n - 66 + 47] |= left <= MSS ? 8 : 0; // PSH
			sent[from][to] += bytes;
			free_ns[from] += ns_per_byte * (66 + bytes);
			left -= bytes;
		}
	}
	capture_end(&capture, CAPTURE);
}

static struct tb_run_info recorded(const char *network)
{
	static const char *const traces[] = {CAPTURE};
	const struct tb_recording_options options = {
		.workload = {.traces = traces, .n_traces = 1, .closed_loop = true},
		.network = network,
		.output = STORE,
		.no_bounds = true,
		.seed = 1};
	struct tb_recording *recording = NULL;
	struct tb_recording_range_outcome outcome;
	struct tb_run *run = NULL;
	struct tb_error error;
	unlink(STORE);
	if (tb_recording_new(&recording, &options, &error) != TB_OK)
		fail_msg("%s", error.text);
	int status = 1;
	while (status > 0)
		status = tb_recording_advance(recording, &error);
	if (status == TB_OK)
		status = tb_recording_finish(recording, &error);
	const struct tb_recording_range asked = {.recording = recording, .n_workers = 1};
	if (status == TB_OK)
		status = tb_recording_range(&outcome, &asked, &error);
	tb_recording_free(recording);
	if (status == TB_OK)
		status = tb_run_open(&run, STORE, 0, &error);
	if (status != TB_OK)
		fail_msg("%s", error.text);
	struct tb_run_info info = *tb_run_info(run);
	tb_run_free(run);
	return info;
}

static void a_run_lies_within_its_own_range(void **state)
{
	static const char *const networks[] = {"ethernet-shaped,rate=10Mbit/s",
		"ethernet-shaped,rate=100Mbit/s", "ethernet-shaped,rate=1Gbit/s",
		"ethernet,levels=2,arity=2,rate=200Mbit/s", "qsnet,levels=1"};
	int n_ranges = 0;
	(void)state;
	for (uint64_t seed = 1; seed <= RUNS; seed++) {
		struct tb_random random;
		tb_random_init(&random, seed, 0);
		write_capture(&random, UINT64_C(8) << tb_random_below(&random, 7));
		const char *network = networks[seed % 5];
		const struct tb_run_info info = recorded(network);
		n_ranges += info.most_ps > 0;
		if (info.least_ps > info.simulated_ps || info.most_ps < info.simulated_ps)
			fail_msg("seed %d on %s: %.3f ms is not between %.3f and %.3f",
				(int)seed, network, (double)info.simulated_ps / 1e9,
				(double)info.least_ps / 1e9, (double)info.most_ps / 1e9);
	}
	assert_int_equal(n_ranges, RUNS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_run_lies_within_its_own_range),
	};
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(STORE);
	unlink(CAPTURE);
	return failed;
}
