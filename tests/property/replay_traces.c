// Engine and oracle on traces: jobs, captures and flow lists, those of ../shared where
// they are. Their observers must receive the same.
#include "network_open.h"
#include "real_input.h"
#include "workload.h"

#include "../support/replay_either.h"
#include "../support/replay_observed.h"
#include "preset.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

struct trace {
	const char *path; // below the folder of the sources, or of the shared inputs
	const char *network;
	tb_time_ps bin_ps; // 0: automatic
};

static struct tb_network *network_for(
	const struct trace *trace, const struct tb_workload *workload)
{
	struct tb_network_params params;
	struct tb_network *net = NULL;
	struct tb_error error = {0};
	const struct tb_network_description description = {
		.params = &params, .n_nodes = tb_workload_n_nodes(workload)};
	if (tb_network_preset(&params, trace->network, &error) != TB_OK ||
		tb_network_open(&net, &description, &error) != TB_OK)
		fail_msg("%s: %s", trace->path, error.text);
	return net;
}

// replay_trace replays a trace by one of the two and keeps what its observer received.
static struct observed replay_trace(enum replayer by, const struct trace *trace,
	const char *path, uint64_t *n_packets)
{
	struct tb_workload *workload = NULL;
	struct tb_error error = {0};
	struct observed observed = {0};
	const struct tb_workload_options options = {
		.traces = &path, .n_traces = 1, .seed = 1};
	if (tb_workload_new(&workload, &options, &error) != TB_OK)
		fail_msg("%s: %s", path, error.text);
	struct tb_network *net = network_for(trace, workload);
	if (tb_workload_place(workload, net, &error) != TB_OK)
		fail_msg("%s: %s", path, error.text);
	struct tb_source source = tb_workload_source(workload);
	struct tb_observer observer = observer_of(&observed);
	struct replay replay = {.network = net,
		.source = &source,
		.observer = &observer,
		.options = {.seed = 1, .bin_ps = trace->bin_ps},
		.n_instants = UINT64_MAX};
	if (replay_by(by, &replay) != TB_OK)
		fail_msg("%s by %s: %s", path, replayer_names[by], replay.error.text);
	*n_packets = replay.stats.n_packets;
	tb_network_free(net);
	tb_workload_free(workload);
	return observed;
}

static void check_trace(const struct trace *trace, const char *folder)
{
	char path[1024];
	struct difference difference;
	uint64_t n_packets = 0, n_by_oracle = 0;
	snprintf(path, sizeof path, "%s/%s", folder, trace->path);
	struct observed engine = replay_trace(BY_ENGINE, trace, path, &n_packets);
	struct observed oracle = replay_trace(BY_ORACLE, trace, path, &n_by_oracle);
	print_message("%s: %" PRIu64 " packets, %zu rows of bins, %zu of blame\n",
		trace->path, n_packets, engine.n_bins, engine.blame.n_by_link);
	assert_int_equal(n_packets, n_by_oracle);
	assert_true(n_packets > 0);
	if (observed_differ(&engine, &oracle, &difference))
		fail_msg("%s on %s: %s", path, trace->network, difference.text);
	observed_free(&engine);
	observed_free(&oracle);
}

static const char *folder_of(const char *variable)
{
	const char *folder = getenv(variable);
	return folder ? folder : "";
}

static void they_agree_on_jobs_and_captures(void **state)
{
	(void)state;
	static const struct trace traces[] = {
		{"tests/data/binary_tree_32.goal", "qsnet", 0},
		{"tests/data/bit_reversal_64.goal", "qsnet,payload=2K,flit=256",
			10 * TB_PS_PER_US},
		{"tests/data/bit_reversal_64.goal",
			"qsnet,payload=4K,flit=512,vcs=1,fifo=1K,ascent=deterministic",
			0},
		{"tests/data/alltoall16.pcap.zst", "qsnet,payload=4K,flit=256,fifo=1K",
			0},
	};
	for (size_t i = 0; i < sizeof traces / sizeof *traces; i++)
		check_trace(&traces[i], folder_of("TB_SOURCE"));
}

static void they_agree_on_foreign_traces(void **state)
{
	(void)state;
	static const struct trace traces[] = {
		{"data/captures/zeek-nfs_write.pcap", "qsnet", 0},
		{"data/captures/suri-nfs4-01.pcap", "qsnet,levels=1", 77777},
		{"data/captures/tcpdump-bigtcp-vxlan.pcap", "qsnet2,flit=16", 0},
		{"data/flows/uet-alltoall_serial_16n.cm",
			"qsnet2,payload=16K,flit=2K,fifo=4K", 0},
	};
	for (size_t i = 0; i < sizeof traces / sizeof *traces; i++)
		if (real_input_is_there(strchr(traces[i].path, '/') + 1))
			check_trace(&traces[i], folder_of("TB_SHARED"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(they_agree_on_jobs_and_captures),
		cmocka_unit_test(they_agree_on_foreign_traces),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
