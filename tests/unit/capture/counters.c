// Counters as the tools of a live fabric print them.
#include "counters.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct tb_error error;

static int take(struct tb_counters *counters, const char *text, const char *name)
{
	FILE *stream = fmemopen((void *)(uintptr_t)text, strlen(text), "r");
	assert_non_null(stream);
	*counters = (struct tb_counters){0};
	int status = tb_counters_add(counters, stream, name, &error);
	fclose(stream);
	return status;
}

static void has(
	const struct tb_counter_port *port, enum tb_counter counter, uint64_t value)
{
	assert_true(port->known >> counter & 1);
	assert_int_equal(port->values[counter], value);
}

static void has_not(const struct tb_counter_port *port, enum tb_counter counter)
{
	assert_false(port->known >> counter & 1);
}

static void perfquery_counts_data_in_words(void **state)
{
	struct tb_counters counters;
	(void)state;
	assert_int_equal(
		take(&counters,
			"# 2026-11-27T10:00:00.5+01:00\n"
			"# Port extended counters: Lid 7 port 3 (CapMask: 0x5300)\n"
			"PortXmitData:....................1000\n"
			"PortXmitWait:....................22730501\n"
			"# Port counters: Lid 7 port 3 (CapMask: 0x5300)\n"
			"PortXmitWait:....................42\n"
			"# Port extended counters: Lid 7 port 255 (CapMask: 0)\n"
			"PortXmitWait:....................99\n",
			"before"),
		TB_OK);
	assert_int_equal(counters.n, 1);
	assert_int_equal(counters.ports[0].lid, 7);
	assert_string_equal(counters.ports[0].port, "3");
	has(&counters.ports[0], TB_COUNTER_SENT_BYTES, 4000);
	has(&counters.ports[0], TB_COUNTER_WAIT_TICKS, 22730501); // the wider one
	has_not(&counters.ports[0], TB_COUNTER_RECEIVED_BYTES);
	assert_true(counters.has_time);
	assert_int_equal(counters.time_us, INT64_C(1795770000500000));
	tb_counters_fini(&counters);
}

static void ibqueryerrors_names_ports_by_guid(void **state)
{
	struct tb_counters counters;
	(void)state;
	assert_int_equal(
		take(&counters,
			"Errors for 0xa0 \"leaf 0\"\n"
			"   GUID 0xa0 port ALL: [PortXmitWait == 9]\n"
			"   GUID 0xa0 port 9: [SymbolErrorCounter == 5]"
			" [PortXmitData == 88 (352.000B)]\n"
			"   Link info: 40 9[ ] ==( 4X 53.125 Gbps)==> 0xb0 1 1\n",
			"x"),
		TB_OK);
	assert_int_equal(counters.n, 1);
	assert_int_equal(counters.ports[0].guid, 0xa0);
	assert_string_equal(counters.ports[0].device, "leaf 0");
	has(&counters.ports[0], TB_COUNTER_SYMBOL_ERRORS, 5);
	has(&counters.ports[0], TB_COUNTER_SENT_BYTES, 352);
	has(&counters.ports[0], TB_COUNTER_WAIT_TICKS, 0); // left out at 0
	has_not(&counters.ports[0], TB_COUNTER_RECEIVED_BYTES);
	tb_counters_fini(&counters);
}

static void pm_is_hexadecimal(void **state)
{
	struct tb_counters counters;
	(void)state;
	assert_int_equal(take(&counters,
				 "Port=9 Lid=0x0028 GUID=0x00a0 Device=1 Port Name=l/9\n"
				 "port_xmit_wait=0xffffffff\n"
				 "port_rcv_data_extended=0x10\nvl15_dropped=NA\n",
				 "x"),
		TB_OK);
	has(&counters.ports[0], TB_COUNTER_WAIT_TICKS, UINT32_MAX);
	assert_int_equal(counters.ports[0].ends[TB_COUNTER_WAIT_TICKS], UINT32_MAX);
	has(&counters.ports[0], TB_COUNTER_RECEIVED_BYTES, 64);
	has_not(&counters.ports[0], TB_COUNTER_VL15_DROPPED);
	tb_counters_fini(&counters);
}

static void a_table_has_a_row_a_port(void **state)
{
	struct tb_counters counters;
	(void)state;
	assert_int_equal(
		take(&counters,
			"timestamp,Node_GUID,Port_Num,PortXmitWaitExtended,more\n"
			"1764237600000000,\"0xa0\",9,300,1\n"
			"1764237600000000,b0,3,N/A,\n",
			"x"),
		TB_OK);
	assert_int_equal(counters.n, 2);
	has(&counters.ports[0], TB_COUNTER_WAIT_TICKS, 300);
	assert_int_equal(counters.ports[1].guid, 0xb0);
	assert_int_equal(counters.ports[1].known, 0);
	assert_int_equal(counters.time_us, INT64_C(1764237600000000));
	tb_counters_fini(&counters);
}

// What is no time, a year alone or another country's date, tells none.
static void a_table_has_dates_or_numbers(void **state)
{
	static const struct {
		const char *text;
		int64_t time_us; // 0: none
	} times[] = {{"2026-11-30T10:00:00Z", INT64_C(1796032800000000)},
		{"2026-11-30T10:00:00", INT64_C(1796032800000000)},
		{"2026-11-30 10:00:00", INT64_C(1796032800000000)},
		{"\"2026-11-30 11:00:00.25 +01:00\"", INT64_C(1796032800250000)},
		{"1796032800", INT64_C(1796032800000000)},
		{"1796032800.5", INT64_C(1796032800500000)}, {"2026-11-30", 0},
		{"30.11.2026 10:00:00", 0}, {"2026-13-30 10:00:00", 0}, {"", 0}};
	(void)state;
	for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
		struct tb_counters counters;
		char text[200];
		snprintf(text, sizeof text,
			"timestamp,guid,port,PortXmitWait\n%s,0xa0,9,3\n", times[i].text);
		assert_int_equal(take(&counters, text, "x"), TB_OK);
		assert_int_equal(counters.has_time, times[i].time_us != 0);
		assert_int_equal(counters.time_us, times[i].time_us);
		tb_counters_fini(&counters);
	}
}

static void exporters_name_ports_by_labels(void **state)
{
	struct tb_counters counters;
	(void)state;
	assert_int_equal(
		take(&counters,
			"infiniband_hca_port_receive_data_bytes_total{guid=\"0x1\","
			"port=\"1\"} 2e3 1764237600000\n"
			"infiniband_portxmitdata_total{local_guid=\"0x2\",local_name=\"a "
			"\\\"b\\\"\",local_port=\"3\"} 5\n"
			"node_infiniband_port_transmit_wait_total{device=\"mlx5_0\","
			"port=\"1\"} 7\nnode_uname_info{nodename=\"n10\"} 1\n",
			"x"),
		TB_OK);
	assert_int_equal(counters.n, 3);
	has(&counters.ports[0], TB_COUNTER_RECEIVED_BYTES, 2000);
	has(&counters.ports[1], TB_COUNTER_SENT_BYTES, 20);
	assert_string_equal(counters.ports[1].device, "a \"b\"");
	assert_string_equal(counters.ports[2].device, "n10 mlx5_0");
	has(&counters.ports[2], TB_COUNTER_WAIT_TICKS, 7);
	assert_int_equal(counters.time_us, INT64_C(1764237600000000));
	tb_counters_fini(&counters);
}

static void priorities_come_to_the_sum(void **state)
{
	struct tb_counters counters;
	(void)state;
	assert_int_equal(take(&counters,
				 "NIC statistics:\n     rx_prio3_pause_duration: 30\n"
				 "     rx_prio4_pause_duration: 12\n     rx_bytes: 10\n"
				 "     rx_bytes_phy: 14\n     rx_prio3_bytes: 4\n"
				 "==> /tmp/n04:eth1.txt <==\nNIC statistics:\n"
				 "     tx_prio0_pause: 3\n",
				 "before/n03:eth2.txt.gz"),
		TB_OK);
	assert_int_equal(counters.n, 2);
	assert_string_equal(counters.ports[0].device, "n03");
	assert_string_equal(counters.ports[0].port, "eth2");
	has(&counters.ports[0], TB_COUNTER_PAUSED_US, 42);
	has(&counters.ports[0], TB_COUNTER_RECEIVED_BYTES, 14);
	assert_string_equal(counters.ports[1].device, "n04");
	has(&counters.ports[1], TB_COUNTER_PAUSES_SENT, 3);
	tb_counters_fini(&counters);
}

static void tables_of_sonic_are_read_by_column(void **state)
{
	struct tb_counters counters;
	(void)state;
	assert_int_equal(
		take(&counters,
			"admin@leaf1:~$ show interfaces counters\n"
			"    IFACE    STATE    RX_OK        RX_BPS    RX_ERR    TX_OK\n"
			"---------  -------  -------  ------------  --------  -------\n"
			"Ethernet0        U    1,234  2000.00 MB/s        10      N/A\n"
			"Reminder: Please execute more\n"
			"  Port Rx    PFC0    PFC3\n---------  ------  ------\n"
			"Ethernet0       1   1,200\n"
			"  Port Tx    PFC0    PFC3\n---------  ------  ------\n"
			"Ethernet0       0      30\n",
			"x"),
		TB_OK);
	assert_int_equal(counters.n, 1);
	assert_string_equal(counters.ports[0].device, "leaf1");
	assert_string_equal(counters.ports[0].port, "Ethernet0");
	has(&counters.ports[0], TB_COUNTER_RECEIVED_PACKETS, 1234);
	has(&counters.ports[0], TB_COUNTER_RECEIVE_ERRORS, 10);
	has_not(&counters.ports[0], TB_COUNTER_SENT_PACKETS);
	has(&counters.ports[0], TB_COUNTER_PAUSES_RECEIVED, 1201);
	has(&counters.ports[0], TB_COUNTER_PAUSES_SENT, 30);
	tb_counters_fini(&counters);
}

// A counter that stands at the end of its kind's width is full there, not in a wider one.
static void widths_are_the_standards(void **state)
{
	static const struct {
		const char *name;
		enum tb_counter counter;
		uint64_t end;
	} right[] = {{"PortXmitWait", TB_COUNTER_WAIT_TICKS, UINT32_MAX},
		{"PortXmitData", TB_COUNTER_SENT_BYTES, 4 * (uint64_t)UINT32_MAX},
		{"PortRcvPkts", TB_COUNTER_RECEIVED_PACKETS, UINT32_MAX},
		{"SymbolErrorCounter", TB_COUNTER_SYMBOL_ERRORS, 65535},
		{"PortXmitDiscards", TB_COUNTER_SEND_DISCARDS, 65535},
		{"PortRcvErrors", TB_COUNTER_RECEIVE_ERRORS, 65535},
		{"VL15Dropped", TB_COUNTER_VL15_DROPPED, 65535},
		{"LinkErrorRecoveryCounter", TB_COUNTER_RECOVERIES, 255},
		{"LinkDownedCounter", TB_COUNTER_LINK_DOWNED, 255},
		{"PortXmitConstraintErrors", TB_COUNTER_SEND_CONSTRAINT, 255},
		{"LocalLinkIntegrityErrors", TB_COUNTER_INTEGRITY, 15},
		{"ExcessiveBufferOverrunErrors", TB_COUNTER_OVERRUNS, 15}};
	(void)state;
	for (size_t i = 0; i < sizeof right / sizeof *right; i++) {
		struct tb_counters counters;
		char text[200];
		for (int wide = 0; wide < 2; wide++) {
			snprintf(text, sizeof text,
				"# Port %scounters: Lid 7 port 3 (\n%s:......3\n",
				wide ? "extended " : "", right[i].name);
			assert_int_equal(take(&counters, text, "x"), TB_OK);
			assert_int_equal(counters.ports[0].ends[right[i].counter],
				wide ? UINT64_MAX : right[i].end);
			tb_counters_fini(&counters);
		}
	}
}

static void paused(const char *lines, enum tb_counter counter, uint64_t value)
{
	struct tb_counters counters;
	char text[600];
	snprintf(text, sizeof text, "NIC statistics:\n%s", lines);
	assert_int_equal(take(&counters, text, "n0:eth0"), TB_OK);
	has(&counters.ports[0], counter, value);
	tb_counters_fini(&counters);
}

// Names of drivers; # in the table is a priority, and what is received holds this port.
static void drivers_have_names_of_their_own(void **state)
{
	(void)state;
	paused(" pfc_pri3_rx_duration_us: 30\n pfc_pri4_rx_duration_us: 5\n",
		TB_COUNTER_PAUSED_US, 35); // bnxt_en
	paused(" pfc_pri3_tx_duration_us: 50\n", TB_COUNTER_PAUSING_US, 50);
	paused(" rx_pfc_ena_frames_pri3: 800\n rx_pfc_frames: 800\n",
		TB_COUNTER_PAUSES_RECEIVED, 800);
	paused(" rx_pripause_3_1us_count: 7\n rx_pripause_5_1us_count: 1\n",
		TB_COUNTER_PAUSED_US, 8); // ionic
	paused(" frames_tx_pripause: 9\n frames_tx_pri_3: 100\n", TB_COUNTER_PAUSES_SENT,
		9);
	paused(" rx_priority_3_xoff.nic: 4\n rx_priority_3_xon.nic: 9\n",
		TB_COUNTER_PAUSES_RECEIVED, 4); // ice
	paused(" port.tx_priority_2_xoff: 6\n port.link_xoff_tx: 1\n",
		TB_COUNTER_PAUSES_SENT, 7);				     // i40e
	paused(" rx_pause_duration_prio_3: 12\n", TB_COUNTER_PAUSED_US, 12); // mlx4
	paused(" rx_ppp3Frames: 2\n", TB_COUNTER_PAUSES_RECEIVED, 2);	     // cxgb4
	paused(" rx_pause_ctrl_phy: 10\n rx_prio3_pause: 4\n rx_prio4_pause: 6\n",
		TB_COUNTER_PAUSES_RECEIVED, 10); // all of them, whichever comes first
}

// Pauses are kept by priority as well: those of several fall together.
static void pauses_of_each_priority_are_known(void **state)
{
	struct tb_counters counters;
	(void)state;
	assert_int_equal(take(&counters,
				 "NIC statistics:\n tx_prio3_pause_duration: 60\n"
				 " tx_prio4_pause_duration: 50\n"
				 " rx_global_pause_duration: 7\n",
				 "n0:eth0"),
		TB_OK);
	assert_int_equal(counters.ports[0].class_us[1][3], 60);
	assert_int_equal(counters.ports[0].class_us[1][4], 50);
	assert_int_equal(counters.ports[0].class_us[0][TB_COUNTER_CLASSES - 1], 7);
	tb_counters_fini(&counters);
}

// An error of mlx5's comes after the warning of the same storm.
static void adapters_report_storms_that_they_send(void **state)
{
	(void)state;
	paused(" tx_pause_storm_warning_events: 7\n tx_pause_storm_error_events: 2\n",
		TB_COUNTER_STORMS_SENT, 7);
}

static void what_tells_of_congestion_and_is_not_read_is_named(void **state)
{
	struct tb_counters counters;
	(void)state;
	assert_int_equal(take(&counters,
				 "NIC statistics:\n rx_bytes: 9\n"
				 " rx_prio3_cong_discard: 4\n rx_queue_9: 8\n"
				 " rx_prio3_pause_transition: 5\n out_of_buffer: 0\n"
				 "==> n1:eth0 <==\nNIC statistics:\n"
				 " rx_prio3_cong_discard: 0x2\n",
				 "n0:eth0"),
		TB_OK);
	assert_int_equal(counters.n_unread, 1);
	assert_string_equal(counters.unread[0].name, "rx_prio3_cong_discard");
	assert_int_equal(counters.unread[0].sum, 6);
	tb_counters_fini(&counters);
}

static void lines_of_ethtool_need_no_heading(void **state)
{
	struct tb_counters counters;
	(void)state;
	assert_int_equal(take(&counters,
				 "     rx_vport_rdma: 3\n     rx_prio3_pause: 41927\n"
				 "     rx_prio3_pause_duration: 8134\n",
				 "d/n0:eth0.txt"),
		TB_OK);
	assert_string_equal(counters.ports[0].device, "n0");
	has(&counters.ports[0], TB_COUNTER_PAUSED_US, 8134);
	tb_counters_fini(&counters);
	assert_int_equal(take(&counters,
				 "root@n4:~# ethtool -S eth2 | grep pause\n"
				 "     rx_prio3_pause: 5\n",
				 "log"),
		TB_OK);
	assert_string_equal(counters.ports[0].device, "n4");
	assert_string_equal(counters.ports[0].port, "eth2");
	has(&counters.ports[0], TB_COUNTER_PAUSES_RECEIVED, 5);
	tb_counters_fini(&counters);
}

static void sonic_prints_a_row_a_priority(void **state)
{
	struct tb_counters counters;
	(void)state;
	assert_int_equal(
		take(&counters,
			"     Port    Priority    RX Pause Transitions    Total RX Pause "
			"Time US    Recent RX Pause Time US\n"
			"---------  ----------  ----------------------  "
			"------------------------  -------------------------\n"
			"Ethernet0        PFC3                      12                  "
			"  85,558                       1500\n"
			"Ethernet0        PFC4                       2                  "
			"      42                          0\n"
			"---------  ----------  ----------------------  "
			"------------------------  -------------------------\n"
			"Ethernet4        PFC3                       0                  "
			"       0                          0\n"
			"      QUEUE       STATUS    STORM DETECTED/RESTORED    TX "
			"OK/DROP   "
			" RX OK/DROP\n"
			"-----------  -----------  -------------------------  "
			"------------  "
			"------------\n"
			"Ethernet4:3      stormed                        3/2       "
			"100/300  "
			"     100/30\n"
			"Ethernet4:4          N/A                        1/1           "
			"N/A  "
			"     100/1\n",
			"leaf1"),
		TB_OK);
	assert_int_equal(counters.n, 2);
	has(&counters.ports[0], TB_COUNTER_PAUSED_US, 85600);
	assert_int_equal(counters.ports[0].class_us[0][4], 42);
	has(&counters.ports[1], TB_COUNTER_PAUSED_US, 0);
	has(&counters.ports[1], TB_COUNTER_STORMS, 4);
	has(&counters.ports[1], TB_COUNTER_SEND_DISCARDS, 300);
	has(&counters.ports[1], TB_COUNTER_RECEIVE_DISCARDS, 31);
	tb_counters_fini(&counters);
}

static void ibdiagnets_database_has_counters_and_names(void **state)
{
	struct tb_counters counters;
	(void)state;
	assert_int_equal(
		take(&counters,
			"START_NODES\nNodeDesc,NumPorts,NodeGUID\n\"leaf, 1\",65,0x1\n"
			"END_NODES\n\nSTART_PM_INFO\n"
			"NodeGUID,PortGUID,PortNumber,LinkDownedCounter,PortXmitWait,"
			"PortXmitWaitExt,PortXmitDataExtended\n"
			"0x1,0x1,0,1,2,3,4\n0x1,0x1,9,255,0xffffffff,5000000000,N/A\n"
			"END_PM_INFO\nSTART_OTHER\nNodeGUID,PortNumber,PortXmitWait\n"
			"0x1,9,7\nEND_OTHER\n",
			"x"),
		TB_OK);
	assert_int_equal(counters.n, 1);
	assert_int_equal(counters.ports[0].guid, 1);
	assert_string_equal(counters.ports[0].device, "leaf, 1");
	assert_string_equal(counters.ports[0].port, "9");
	has(&counters.ports[0], TB_COUNTER_LINK_DOWNED, 255);
	assert_int_equal(counters.ports[0].ends[TB_COUNTER_LINK_DOWNED], 255);
	has(&counters.ports[0], TB_COUNTER_WAIT_TICKS, UINT64_C(5000000000));
	has_not(&counters.ports[0], TB_COUNTER_SENT_BYTES);
	tb_counters_fini(&counters);
}

static void refused(const char *text, const char *why)
{
	struct tb_counters counters;
	assert_int_equal(take(&counters, text, "x"), TB_EFORMAT);
	assert_non_null(strstr(error.text, why));
	tb_counters_fini(&counters);
}

static void what_makes_no_sense_is_refused(void **state)
{
	(void)state;
	refused("# Port counters: Lid 7 port 3 (\nPortXmitWait:...4x2\n", "'4x2'");
	refused("# Port counters: Lid 7 port 3 (\nPortXmitWait:...42", "cut off");
	refused("# Port counters: Lid 7 port 3 (\n# Port counters: Lid 7 port 3 (\n",
		"stands there twice");
	refused("NIC statistics:\n", "HOST:INTERFACE");
	refused("port_num,guid,PortXmitWait\n1,0xa0\n", "2 columns, not the 3");
	refused("infiniband_portxmitwait_total{guid=\"1\",port=\"1\"} -1\n",
		"a count was expected");
}

static void a_port_is_found_in_another_dump(void **state)
{
	struct tb_counters one, other;
	(void)state;
	assert_int_equal(take(&one,
				 "# Port counters: Lid 7 port 3 (\n"
				 "# Port counters: Lid 8 port 3 (\n",
				 "x"),
		TB_OK);
	assert_int_equal(take(&other, "# Port counters: Lid 8 port 3 (\n", "y"), TB_OK);
	assert_null(tb_counters_find(&other, &one.ports[0]));
	assert_ptr_equal(tb_counters_find(&other, &one.ports[1]), &other.ports[0]);
	tb_counters_fini(&one);
	tb_counters_fini(&other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(perfquery_counts_data_in_words),
		cmocka_unit_test(ibqueryerrors_names_ports_by_guid),
		cmocka_unit_test(pm_is_hexadecimal),
		cmocka_unit_test(a_table_has_a_row_a_port),
		cmocka_unit_test(a_table_has_dates_or_numbers),
		cmocka_unit_test(exporters_name_ports_by_labels),
		cmocka_unit_test(priorities_come_to_the_sum),
		cmocka_unit_test(tables_of_sonic_are_read_by_column),
		cmocka_unit_test(widths_are_the_standards),
		cmocka_unit_test(drivers_have_names_of_their_own),
		cmocka_unit_test(pauses_of_each_priority_are_known),
		cmocka_unit_test(adapters_report_storms_that_they_send),
		cmocka_unit_test(what_tells_of_congestion_and_is_not_read_is_named),
		cmocka_unit_test(lines_of_ethtool_need_no_heading),
		cmocka_unit_test(sonic_prints_a_row_a_priority),
		cmocka_unit_test(ibdiagnets_database_has_counters_and_names),
		cmocka_unit_test(what_makes_no_sense_is_refused),
		cmocka_unit_test(a_port_is_found_in_another_dump),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
