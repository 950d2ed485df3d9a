// Presets of networks with credits: their keys and values.
#include "../../support/params_of.h"

#include "credit_params.h"
#include "preset.h"
#include "preset_reading.h"

#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static struct tb_credit_params credits_of(const char *network)
{
	const struct tb_network_params params = params_of(network);
	return *tb_credit_params(&params);
}

static void the_presets_with_credits_hold_what_their_sources_give(void **state)
{
	(void)state;
	static const struct {
		const char *name;
		uint64_t bytes_per_s;
		uint32_t arity;
		tb_time_ps hop_latency_ps;
		enum tb_flow_control flow_control;
		uint32_t overhead, ack, tick;
	} right[] = {
		{"ib-qdr", 4000000000, 18, 115000, TB_FLOW_CREDITS, 26, 30, 128},
		{"ib-edr", 12500000000, 18, 105000, TB_FLOW_CREDITS, 26, 30, 128},
		{"ib-hdr", 25000000000, 20, 145000, TB_FLOW_CREDITS, 26, 30, 8},
		{"ib-ndr", 50000000000, 32, 215000, TB_FLOW_CREDITS, 26, 30, 8},
		{"ib-xdr", 100000000000, 72, 215000, TB_FLOW_CREDITS, 26, 30, 8},
		{"roce-100", 12500000000, 16, 315000, TB_FLOW_PAUSE, 82, 86, 0},
		{"roce-400", 50000000000, 32, 515000, TB_FLOW_PAUSE, 82, 86, 0},
	};
	for (size_t i = 0; i < sizeof right / sizeof *right; i++) {
		const struct tb_network_params params = params_of(right[i].name);
		const struct tb_credit_params *credits = tb_credit_params(&params);
		assert_string_equal(params.name, right[i].name);
		assert_string_equal(params.switching, "credits");
		assert_int_equal(params.link_bytes_per_s, right[i].bytes_per_s);
		assert_int_equal(params.arity, right[i].arity);
		assert_int_equal(params.hop_latency_ps, right[i].hop_latency_ps);
		assert_int_equal(credits->flow_control, right[i].flow_control);
		assert_int_equal(params.packet_overhead_bytes, right[i].overhead);
		assert_int_equal(credits->first_overhead_bytes, 16);
		assert_int_equal(credits->ack_bytes, right[i].ack);
		assert_int_equal(credits->xmit_wait_tick_bytes, right[i].tick);
		assert_true(credits->pcie_bytes_per_s > 0);
		char of_mpi[32];
		snprintf(of_mpi, sizeof of_mpi, "%s,host=mpi", right[i].name);
		assert_int_equal(
			params_of(of_mpi).host.handshake, TB_HANDSHAKE_RENDEZVOUS);
	}
}

static void each_key_of_credits_sets_its_own_figure(void **state)
{
	(void)state;
	const struct tb_network_params params = params_of(
		"ib-hdr,queues=voq,input_speedup=3,forwarding=store-and-forward,"
		"flow_control=pause,vls=5,buffer=47000,xoff=3000,xon=2000,vl_high=1:7  "
		"4:0,vl_low=0:1 1:2 2:3 3:4 4:5,vl_limit=11,sl_to_vl=0 4 2,"
		"xmit_wait_tick=13,first_overhead=17,ack=19,pcie=23MB/s,queue_pairs="
		"message");
	const struct tb_credit_params *credits = tb_credit_params(&params);
	assert_int_equal(credits->queues, TB_QUEUES_VOQ);
	assert_int_equal(credits->input_speedup, 3);
	assert_int_equal(credits->forwarding, TB_FORWARDING_STORE);
	assert_int_equal(credits->flow_control, TB_FLOW_PAUSE);
	assert_int_equal(params.n_vcs, 5);
	assert_int_equal(params.fifo_bytes, 47000);
	assert_int_equal(credits->xoff_bytes, 3000);
	assert_int_equal(credits->xon_bytes, 2000);
	assert_string_equal(credits->vl_high, "1:7 4:0");
	assert_string_equal(credits->vl_low, "0:1 1:2 2:3 3:4 4:5");
	assert_int_equal(credits->vl_limit, 11);
	assert_string_equal(credits->sl_to_vl, "0 4 2");
	assert_int_equal(credits->xmit_wait_tick_bytes, 13);
	assert_int_equal(credits->first_overhead_bytes, 17);
	assert_int_equal(credits->ack_bytes, 19);
	assert_int_equal(credits->pcie_bytes_per_s, 23000000);
	assert_int_equal(credits->queue_pairs, TB_QUEUE_PAIRS_MESSAGE);
	assert_int_equal(credits_of("ib-hdr").vl_limit, TB_VL_LIMIT_NONE);
	assert_int_equal(credits_of("ib-hdr,pcie=none").pcie_bytes_per_s, 0);
}

static void arbitration_tables_and_service_levels_are_read(void **state)
{
	(void)state;
	struct tb_vl_table table;
	assert_int_equal(tb_vl_table_read(&table, "2:255, 0:1\t2:0", 3, false), TB_OK);
	assert_int_equal(table.n, 3);
	assert_int_equal(table.at[0].vl, 2);
	assert_int_equal(table.at[0].weight, 255);
	assert_int_equal(table.at[1].vl, 0);
	assert_int_equal(table.at[2].weight, 0);
	assert_int_equal(tb_vl_table_read(&table, "", 3, true), TB_OK);
	assert_int_equal(table.n, 3);
	assert_int_equal(table.at[2].vl, 2);
	assert_int_equal(table.at[2].weight, 64);
	assert_int_equal(tb_vl_table_read(&table, "", 3, false), TB_OK);
	assert_int_equal(table.n, 0);
	static const char *const wrong[] = {"3:1", "0:256", "0", "0:", ":1", "0:1x",
		"0:1;1:1", " ", "0:1:2", "-1:3", "evenly", "0000:1"};
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
		assert_int_equal(tb_vl_table_read(&table, wrong[i], 3, true), TB_EUSAGE);
	uint8_t vls[TB_SLS];
	assert_int_equal(tb_sl_to_vl_read(vls, "0,2,1", 3), TB_OK);
	assert_int_equal(vls[1], 2);
	assert_int_equal(vls[15], 1);
	assert_int_equal(tb_sl_to_vl_read(vls, "modulo", 3), TB_OK);
	assert_int_equal(vls[5], 2);
	static const char *const no_lanes[] = {
		"3", "0 x", " ", "0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0"};
	for (size_t i = 0; i < sizeof no_lanes / sizeof *no_lanes; i++)
		assert_int_equal(tb_sl_to_vl_read(vls, no_lanes[i], 3), TB_EUSAGE);
	assert_int_equal(tb_sl_to_vl_read(vls, "0", 16), TB_EUSAGE);
}

static void stall_is_counted_in_ticks_of_the_port(void **state)
{
	(void)state;
	const struct tb_credit_params hdr = credits_of("ib-hdr");
	const struct tb_credit_params edr = credits_of("ib-edr");
	const struct tb_credit_params roce = credits_of("roce-100");
	// 8 bytes at 25 GB/s take 320 ps, 128 at 12.5 GB/s 10.24 ns.
	assert_int_equal(tb_xmit_wait_ticks(&hdr, 320 * 7 + 319, 25000000000), 7);
	assert_int_equal(tb_xmit_wait_ticks(&edr, 10240 * 5, 12500000000), 5);
	assert_int_equal(tb_xmit_wait_ticks(&roce, 1000000, 12500000000), 0);
}

static void what_keys_of_credits_mean_together_is_checked(void **state)
{
	(void)state;
	// A packet of 4096 + 26 + 16 bytes takes 65 blocks of 64.
	static const char *const wrong[][2] = {
		{"ib-hdr,buffer=4159", "room for the longest packet, 4160 bytes"},
		{"ib-hdr,broadcast=yes", "broadcast"},
		{"ib-hdr,xoff=1K", "xoff has no effect"},
		{"ib-hdr,xon=1K", "xon has no effect"},
		{"ib-hdr,vls=2,vl_low=0:1", "lane 1, of service level 1"},
		{"ib-hdr,vls=2,vl_low=0:1 1:0", "lane 1"},
		{"ib-hdr,vls=2,vl_low=0:1 2:1", "vl_low: expected lanes below vls = 2"},
		{"ib-hdr,vls=2,vl_high=3:1", "vl_high: expected lanes"},
		{"ib-hdr,vls=2,sl_to_vl=0 2", "sl_to_vl: expected lanes"},
		{"ib-hdr,vl_low=0-1", "vl_low = 0-1: expected none, even"},
		{"ib-hdr,sl_to_vl=one", "sl_to_vl = one: expected modulo"},
		{"ib-hdr,queues=lifo", "queues = lifo: expected fifo or voq"},
		{"ib-hdr,forwarding=slow", "expected cut-through or store-and-forward"},
		{"ib-hdr,flow_control=none", "expected credits or pause"},
		{"ib-hdr,queue_pairs=two", "expected connection or message"},
		{"ib-hdr,input_speedup=65", "from 1 to 64, or none"},
		{"ib-hdr,congestion_control=dcqcn", "expected rate_timer above 0 too"},
		{"ib-hdr,queue_pair_gap=100ns,message_gap=0.3ns",
			"queue_pair_gap: expected at most 256 times message_gap, which "
			"is 300 ps"},
		{"roce-100,congestion_control=fecn", "expected fecn_threshold above 0"},
		{"ib-hdr,congestion_control=fecn,ccti_increase=0", "ccti_increase above"},
		{"ib-hdr,congestion_control=fecn,ccti_timer=0s", "expected ccti_timer"},
		{"ib-hdr,congestion_control=fecn,cct_square=0", "expected cct_square"},
		{"ib-hdr,congestion_control=fecn,ccti_min=127", "ccti_limit = 127"},
		{"ib-hdr,cct_shift=4", "from 0 to 3"},
		{"ib-hdr,fecn_threshold=16", "from 0 to 15"},
		{"ib-hdr,fecn_victims=some", "expected none, nodes or all"},
		{"roce-100,congestion_control=dcqcn,ecn_min=300KB",
			"ecn_min = 307200: expected ecn_max = 204800 or less"},
		{"ib-hdr,vls=16", "from 1 to 15"},
		{"ib-hdr,vl_limit=256", "from 0 to 255"},
		{"ib-hdr,tcp=reno", "tcp is a key of switching = ethernet"},
		{"ib-hdr,roots=r", "roots is a key of fabrics"},
		{"ib-hdr,bus=1GB/s", "bus is a key of switching = circuits"},
		{"ib-hdr,slice=1K", "slice is a key of switching = circuits"},
		{"roce-100,xon=161K", "xon = 164864: expected xoff = 163840"},
		{"ib-hdr,flow_control=pause", "expected xoff above 0"},
		// 2 * 315 ns * 12.5 GB/s = 7875 bytes and 3 packets of 4194.
		{"roce-100,buffer=184297", "headroom of 20458"},
	};
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		struct tb_network_params params;
		struct tb_error error = {0};
		assert_int_equal(
			tb_network_preset(&params, wrong[i][0], &error), TB_EUSAGE);
		if (!strstr(error.text, wrong[i][1]))
			fail_msg("%s: %s", wrong[i][0], error.text);
	}
	static const char *const right[] = {"ib-hdr,buffer=4160",
		"roce-100,buffer=184298", "roce-100,flow_control=credits",
		"ib-hdr,vls=2,vl_low=0:1,vl_high=1:1",
		"ib-hdr,vls=2,vl_low=0:1,sl_to_vl=0"};
	for (size_t i = 0; i < sizeof right / sizeof *right; i++)
		(void)params_of(right[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_presets_with_credits_hold_what_their_sources_give),
		cmocka_unit_test(each_key_of_credits_sets_its_own_figure),
		cmocka_unit_test(arbitration_tables_and_service_levels_are_read),
		cmocka_unit_test(stall_is_counted_in_ticks_of_the_port),
		cmocka_unit_test(what_keys_of_credits_mean_together_is_checked),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
