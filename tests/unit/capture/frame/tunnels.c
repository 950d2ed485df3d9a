// Tunnels over IP, written byte by byte: the inner packets count.
#include "../../../support/frame_hex.h"

// IPv4 between the tunnel's ends, 10.25.0.1 and 10.25.0.2.
#define OUTER(length, protocol)                                                          \
	ETH "0800 4500 " length " 1234 4000 40 " protocol " 0000 0a190001 0a190002 "
#define UDP(port, length) "d431 " port " " length " 0000 "

static void check_outer(struct decoded d)
{
	assert_int_equal(d.frame.kind, TB_FRAME_DATA);
	assert_string_equal(d.source, "10.25.0.1");
	assert_string_equal(d.destination, "10.25.0.2");
	assert_int_equal(d.frame.transport, TB_TRANSPORT_OTHER);
	assert_int_equal(d.frame.registry, TB_REGISTRY_NONE);
}

static void ip_carries_ip_and_labels(void **state)
{
	(void)state;
	check_inner(decode(DLT_EN10MB, OUTER("0064", "04") INNER, 0), 114, 74);
	check_inner(decode(DLT_EN10MB,
			    ETH "86dd 60000000 0050 04 40 "
				"fd000000000000000000000000000001 "
				"fd000000000000000000000000000002 " INNER,
			    0),
		134, 94);
	check_inner(
		decode(DLT_EN10MB, OUTER("0068", "89") "00064140 " INNER, 0), 118, 78);
	struct decoded v6 = decode(DLT_EN10MB,
		OUTER("0078",
			"29") "60000000 003c 06 40 fd000000000000000000000000000001 "
			      "fd000000000000000000000000000002 " TCP DATA_40,
		0);
	assert_string_equal(v6.source, "fd00::1");
	assert_int_equal(v6.frame.payload_bytes, 40);
	assert_int_equal(v6.frame.header_bytes, 14 + 20 + 40 + 20);
}

static void gre_carries_what_its_type_names(void **state)
{
	(void)state;
	check_inner(
		decode(DLT_EN10MB, OUTER("0068", "2f") "0000 0800 " INNER, 0), 118, 78);
	check_inner(
		decode(DLT_EN10MB,
			OUTER("0074", "2f") "b000 0800 00000000 00000001 00000002 " INNER,
			0),
		130, 90);
	check_inner(
		decode(DLT_EN10MB,
			OUTER("007a", "2f") "2000 6558 00000100 " ETH "0800 " INNER, 0),
		136, 96);
	check_inner(decode(DLT_EN10MB,
			    OUTER("0078", "2f") "3081 880b 0054 0001 00000001 00000001 "
						"ff03 0021 " INNER,
			    0),
		134, 94);
	check_outer(decode(DLT_EN10MB, OUTER("0040", "2f") "0000 6400 " DATA_40, 0));
	// Source routes of RFC 1701, of unknown length.
	check_outer(decode(DLT_EN10MB, OUTER("0068", "2f") "4000 0800 " INNER, 0));
}

static void vxlan_carries_ethernet(void **state)
{
	(void)state;
#define VXLAN "0800000000000100 "
	check_inner(
		decode(DLT_EN10MB,
			OUTER("0082", "11") UDP("12b5", "006e") VXLAN ETH "0800 " INNER,
			0),
		144, 104);
	check_inner(
		decode(DLT_EN10MB,
			OUTER("0082", "11") UDP("2118", "006e") VXLAN ETH "0800 " INNER,
			0),
		144, 104);
	struct decoded arp = decode(DLT_EN10MB,
		OUTER("004e", "11") UDP("12b5", "003a") VXLAN ETH
		"0806 0001 0800 06 04 "
		"0002 024d00000001 0a4d0001 024d00000002 0a4d0002",
		0);
	check_type(arp, TB_FRAME_CONTROL, "EtherType 0x0806 (ARP)");
}

static void vxlan_gpe_names_what_it_carries(void **state)
{
	(void)state;
	check_inner(
		decode(DLT_EN10MB,
			OUTER("0074", "11") UDP("12b6", "0060") "0c00000100000100 " INNER,
			0),
		130, 90);
	check_inner(decode(DLT_EN10MB,
			    OUTER("007c", "11")
				    UDP("12b6", "0068") "0c00000400000100 "
							"0fc2 02 01 000001ff " INNER,
			    0),
		138, 98);
	check_inner(
		decode(DLT_EN10MB,
			OUTER("0082", "11") UDP("12b6", "006e") VXLAN ETH "0800 " INNER,
			0),
		144, 104);
}

static void geneve_skips_its_options(void **state)
{
	(void)state;
	check_inner(decode(DLT_EN10MB,
			    OUTER("0086", "11") UDP("17c1", "0072") "0140 6558 00000a00 "
								    "01020380 " ETH
								    "0800 " INNER,
			    0),
		148, 108);
	check_inner(decode(DLT_EN10MB,
			    OUTER("0074", "11")
				    UDP("17c1", "0060") "0000 0800 00000a00 " INNER,
			    0),
		130, 90);
	// A control message between the tunnel's ends.
	check_outer(decode(DLT_EN10MB,
		OUTER("0074", "11") UDP("17c1", "0060") "0080 0800 00000a00 " INNER, 0));
}

static void labels_go_over_udp_too(void **state)
{
	(void)state;
	check_inner(decode(DLT_EN10MB,
			    OUTER("0070", "11") UDP("19eb", "005c") "00064140 " INNER, 0),
		126, 86);
}

static void tunnels_run_within_tunnels(void **state)
{
	(void)state;
	check_inner(decode(DLT_EN10MB,
			    OUTER("00ae", "2f") "0000 6558 " OUTER("0088", "11")
				    UDP("12b5", "0074") VXLAN ETH "8847 00064140 " INNER
								  "0000",
			    0),
		188, 146);
}

// A mirrored frame counts as a whole, with its own length.
static void mirrors_count_as_the_frame_within(void **state)
{
	(void)state;
	check_inner(decode(DLT_EN10MB,
			    OUTER("0082", "2f") "1000 88be 00000001 1001000100000000 " ETH
						"0800 " INNER,
			    0),
		94, 54);
	check_inner(
		decode(DLT_EN10MB, OUTER("0076", "2f") "0000 88be " ETH "0800 " INNER, 0),
		94, 54);
	check_inner(decode(DLT_EN10MB,
			    OUTER("008e", "2f") "1000 22eb 00000001 2001000100000000 "
						"00000001 0000000000000000 " ETH
						"0800 " INNER,
			    0),
		94, 54);
}

// Of a mirror that its switch truncated, the sizes within are the whole frame's.
static void mirrors_are_named_by_frame_type_and_nest(void **state)
{
	(void)state;
#define ERSPAN_3(last) "1000 22eb 00000001 2001000100000000 0000" last " "
	check_inner(decode(DLT_EN10MB, OUTER("0074", "2f") ERSPAN_3("0800") INNER, 0), 94,
		54);
	check_inner(
		decode(DLT_EN10MB,
			OUTER("007c", "2f") ERSPAN_3("0801") "0000000000000000 " INNER,
			0),
		94, 54);
	check_inner(decode(DLT_EN10MB,
			    OUTER("0086", "2f") ERSPAN_3("8000") ETH "0800 " INNER, 0),
		94, 54);
	check_type(decode(DLT_EN10MB, OUTER("0074", "2f") ERSPAN_3("0c00") INNER, 0),
		TB_FRAME_UNDECODABLE, "IP protocol 47 (GRE)");
	check_inner(
		decode(DLT_EN10MB,
			OUTER("00b4", "2f") "1000 88be 00000001 1001000100000000 " OUTER(
				"0082", "2f") "1000 88be 00000001 1001000100000000 " ETH
					      "0800 " INNER,
			0),
		94, 54);
	struct decoded cut = decode(DLT_EN10MB,
		OUTER("005a", "2f") "1000 88be 00000001 1001040100000000 " ETH
				    "0800 " IPV4 TCP,
		0);
	check_tcp(&cut, 94, 54);
	assert_true(cut.frame.sliced);
	// TZSP: a padding, a field, the end.
	check_inner(decode(DLT_EN10MB,
			    OUTER("0083", "11") UDP("9090", "006f") "01 00 0001 00 0a 01 "
								    "c0 01 " ETH
								    "0800 " INNER,
			    0),
		94, 54);
}

static void radio_networks_carry_ip(void **state)
{
	(void)state;
	check_inner(decode(DLT_EN10MB,
			    OUTER("0074", "11")
				    UDP("0868", "0060") "30 ff 0050 00000001 " INNER,
			    0),
		130, 90);
	// With a number, and extensions of 8 and 4 bytes.
	check_inner(decode(DLT_EN10MB,
			    OUTER("0084", "11")
				    UDP("0868", "0070") "36 ff 0060 00000001 0001 00 85 "
							"02 1009 00 00 00 00 c0 "
							"01 0000 00 " INNER,
			    0),
		146, 106);
	check_outer(decode(DLT_EN10MB,
		OUTER("0028", "11") UDP("0868", "0014") "32 01 0004 00000000 00010000 ",
		0));
}

#define INNER_6                                                                          \
	"60000000 003c 06 40 20010000000000000000000000000001 "                          \
	"20010000000000000000000000000002 " TCP DATA_40

static void teredo_carries_ip_of_version_6(void **state)
{
	(void)state;
	static const char *const heads[] = {"", "0000 1234 f5ffffff ",
		"0001 00 00 0102030405060708 00 ",
		"0001 01 02 61 6263 0102030405060708 00 0000 1234 f5ffffff "};
	static const uint32_t bytes[] = {0, 8, 13, 24};
	for (int i = 0; i < 4; i++)
		for (int reply = 0; reply < 2; reply++) {
			char hex[1024];
			snprintf(hex, sizeof hex,
				ETH "0800 4500 %04x 1234 4000 40 11 0000 0a190001 "
				    "0a190002 %s %04x 0000 %s" INNER_6,
				20 + 8 + bytes[i] + 100,
				reply ? "0dd8 d431" : "d431 0dd8", 8 + bytes[i] + 100,
				heads[i]);
			struct decoded d = decode(DLT_EN10MB, hex, 0);
			assert_string_equal(d.source, "2001::1");
			assert_int_equal(d.frame.payload_bytes, 40);
			assert_int_equal(d.frame.header_bytes, 14 + 28 + bytes[i] + 60);
		}
}

static void ethernet_follows_ip_too(void **state)
{
	(void)state;
	// After a segment routing header of one segment (RFC 8754), and bare.
	check_inner(decode(DLT_EN10MB,
			    ETH "86dd 60000000 0076 2b 40 "
				"fd000000000000000000000000000001 "
				"fd000000000000000000000000000002 "
				"8f 02 04 00 00 00 0000 "
				"fd000000000000000000000000000002 " ETH "0800 " INNER,
			    0),
		172, 132);
	check_inner(
		decode(DLT_EN10MB, OUTER("0072", "8f") ETH "0800 " INNER, 0), 128, 88);
	check_inner(decode(DLT_EN10MB, OUTER("0074", "61") "3000 " ETH "0800 " INNER, 0),
		130, 90);
	// LISP.
	check_inner(
		decode(DLT_EN10MB,
			OUTER("0074", "11") UDP("10f5", "0060") "8000000100000001 " INNER,
			0),
		130, 90);
}

static void without_the_addresses_within_the_ends_of_the_tunnel_count(void **state)
{
	(void)state;
	// Cut off in the inner Ethernet header; not VXLAN; an impossible inner length.
	check_outer(decode(DLT_EN10MB,
		OUTER("0082", "11") UDP("12b5", "006e") VXLAN "024d00000002 024d", 86));
	check_outer(
		decode(DLT_EN10MB, OUTER("0044", "11") UDP("12b5", "0030") DATA_40, 0));
	check_outer(decode(DLT_EN10MB,
		OUTER("0054",
			"04") "4500 0150 1234 4000 40 06 0000 0a4d0001 0a4d0002 " TCP
			      "00000000 0001020304050607 0001020304050607",
		4));
}

static void fragments_of_a_tunnel_all_have_the_tunnels_ends(void **state)
{
	(void)state;
	check_outer(decode(DLT_EN10MB,
		ETH "0800 4500 0064 1234 2000 40 04 0000 0a190001 0a190002 " INNER, 0));
	check_outer(decode(DLT_EN10MB,
		ETH
		"0800 4500 0068 1234 2000 40 2f 0000 0a190001 0a190002 0000 0800 " INNER,
		0));
	check_outer(decode(DLT_EN10MB,
		ETH "0800 4500 0082 1234 2000 40 11 0000 0a190001 0a190002 " UDP(
			"12b5", "006e") VXLAN ETH "0800 " INNER,
		0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ip_carries_ip_and_labels),
		cmocka_unit_test(gre_carries_what_its_type_names),
		cmocka_unit_test(vxlan_carries_ethernet),
		cmocka_unit_test(vxlan_gpe_names_what_it_carries),
		cmocka_unit_test(geneve_skips_its_options),
		cmocka_unit_test(labels_go_over_udp_too),
		cmocka_unit_test(tunnels_run_within_tunnels),
		cmocka_unit_test(mirrors_count_as_the_frame_within),
		cmocka_unit_test(mirrors_are_named_by_frame_type_and_nest),
		cmocka_unit_test(radio_networks_carry_ip),
		cmocka_unit_test(teredo_carries_ip_of_version_6),
		cmocka_unit_test(ethernet_follows_ip_too),
		cmocka_unit_test(
			without_the_addresses_within_the_ends_of_the_tunnel_count),
		cmocka_unit_test(fragments_of_a_tunnel_all_have_the_tunnels_ends),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
