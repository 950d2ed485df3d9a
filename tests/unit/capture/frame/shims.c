// Labels and tags before the network header, written byte by byte.
#include "../../../support/frame_hex.h"

#define IPV6_INNER                                                                       \
	"60000000 003c 06 40 fd000000000000000000000000000001 "                          \
	"fd000000000000000000000000000002 " TCP DATA_40

static void labels_are_passed_to_the_bottom_of_the_stack(void **state)
{
	(void)state;
	check_inner(decode(DLT_EN10MB, ETH "8847 00064040 00065140 " INNER, 0), 102, 62);
	check_inner(decode(DLT_EN10MB, ETH "8848 000001ff " INNER, 0), 98, 58);
	struct decoded v6 = decode(DLT_EN10MB, ETH "8847 00064140 " IPV6_INNER, 0);
	assert_string_equal(v6.source, "fd00::1");
	assert_int_equal(v6.frame.payload_bytes, 40);
}

static void labels_carry_ethernet_with_and_without_a_control_word(void **state)
{
	(void)state;
	check_inner(
		decode(DLT_EN10MB, ETH "8847 00064140 00000000 " ETH "0800 " INNER, 0),
		116, 76);
	check_inner(
		decode(DLT_EN10MB, ETH "8847 00064140 " ETH "0800 " INNER, 0), 112, 72);
}

static void what_labels_carry_else_stays_between_macs(void **state)
{
	(void)state;
	struct decoded other = decode(DLT_EN10MB, ETH "8847 00064140 " DATA_40, 0);
	check_type(other, TB_FRAME_DATA, "EtherType 0x8847 (MPLS)");
	assert_string_equal(other.source, "02:4d:00:00:00:01");
	assert_int_equal(other.frame.payload_bytes, 44);
	// It begins like IP, but is not.
	struct decoded like_ip = decode(DLT_EN10MB, ETH "8847 00064140 45" DATA_40, 0);
	check_type(like_ip, TB_FRAME_DATA, "EtherType 0x8847 (MPLS)");
	// The generic associated channel label, and a stack without a bottom.
	check_type(decode(DLT_EN10MB, ETH "8847 0000d1ff 10000007 " DATA_40, 0),
		TB_FRAME_CONTROL, "EtherType 0x8847 (MPLS)");
	check_type(decode(DLT_EN10MB, ETH "8847 00064040 ", 40), TB_FRAME_UNDECODABLE,
		"EtherType 0x8847 (MPLS)");
}

static void pppoe_sessions_carry_ip(void **state)
{
	(void)state;
	check_inner(decode(DLT_EN10MB, ETH "8864 1100 0017 0052 0021 " INNER "0000", 0),
		104, 62);
	check_inner(decode(DLT_PPP_ETHER, "1100 0017 0052 0021 " INNER, 0), 102, 62);
	check_inner(decode(DLT_EN10MB, ETH "8864 1100 0017 0056 0281 00064140 " INNER, 0),
		106, 66);
	check_type(decode(DLT_EN10MB, ETH "8864 1100 0017 0010 c021 096a 000e", 10),
		TB_FRAME_CONTROL, "PPP protocol 0xc021 (LCP)");
	check_type(decode(DLT_EN10MB, ETH "8864 1100 0017 002a 002d " DATA_40, 0),
		TB_FRAME_DATA, "PPP protocol 0x002d (compressed TCP)");
	check_type(decode(DLT_EN10MB, ETH "8864 2100 0017 0052 0021 " INNER, 0),
		TB_FRAME_UNDECODABLE, "EtherType 0x8864 (PPPoE)");
	check_type(decode(DLT_EN10MB, ETH "8863 1109 0000 0004 0101 0000", 40),
		TB_FRAME_CONTROL, "EtherType 0x8863 (PPPoE discovery)");
}

static void tags_of_switches_are_passed(void **state)
{
	(void)state;
	check_inner(decode(DLT_EN10MB, ETH "8926 00010002 0800 " INNER, 0), 100, 60);
	check_inner(
		decode(DLT_EN10MB, ETH "893f 0001 0002 0000 0800 " INNER, 0), 102, 62);
	check_inner(decode(DLT_EN10MB, ETH "8926 00010002 8100 0064 0800 " INNER, 0), 104,
		64);
}

static void service_headers_are_passed(void **state)
{
	(void)state;
	check_inner(
		decode(DLT_EN10MB, ETH "894f 0fc2 02 01 000001ff " INNER, 0), 102, 62);
	check_inner(decode(DLT_EN10MB,
			    ETH "894f 0fc6 01 03 000001ff 00000000 00000000 00000000 "
				"00000000 " ETH "0800 " INNER,
			    0),
		132, 92);
	check_inner(decode(DLT_EN10MB,
			    ETH "894f 0fc2 02 04 000001ff 0fc2 02 05 000001fe "
				"00064140 " INNER,
			    0),
		114, 74);
	check_type(decode(DLT_EN10MB, ETH "894f 0fc2 02 fe 000001ff " DATA_40, 0),
		TB_FRAME_DATA, "EtherType 0x894f (NSH)");
	check_type(decode(DLT_EN10MB, ETH "894f 0fc1 02 01 000001ff " DATA_40, 0),
		TB_FRAME_DATA, "EtherType 0x894f (NSH)");
}

static void the_customers_macs_count_in_a_backbone(void **state)
{
	(void)state;
#define BACKBONE "024d000000b2 024d000000b1 88a8 0064 88e7 00000001 "
	check_inner(decode(DLT_EN10MB, BACKBONE ETH "0800 " INNER, 0), 116, 76);
	struct decoded aoe = decode(DLT_EN10MB, BACKBONE ETH "88a2 " DATA_40, 0);
	check_type(aoe, TB_FRAME_DATA, "EtherType 0x88a2 (ATA over Ethernet)");
	assert_string_equal(aoe.source, "02:4d:00:00:00:01");
}

static void macsec_is_read_unless_encrypted(void **state)
{
	(void)state;
#define ICV "00112233445566778899aabbccddeeff "
	check_inner(
		decode(DLT_EN10MB,
			ETH "88e5 20 00 00000001 024d000000010001 0800 " INNER ICV, 0),
		126, 70);
	check_inner(decode(DLT_EN10MB, ETH "88e5 00 00 00000001 0800 " INNER ICV, 0), 118,
		62);
	// With ATA over Ethernet the payload shows that a short frame ends before the
	// padding and the integrity check.
	struct decoded shorter = decode(
		DLT_EN10MB, ETH "88e5 00 2a 00000001 88a2 " DATA_40 "00000000" ICV, 0);
	check_type(shorter, TB_FRAME_DATA, "EtherType 0x88a2 (ATA over Ethernet)");
	assert_int_equal(shorter.frame.payload_bytes, 40);
	struct decoded encrypted = decode(
		DLT_EN10MB, ETH "88e5 2c 00 00000001 024d000000010001 " DATA_40 ICV, 0);
	check_type(encrypted, TB_FRAME_DATA, "EtherType 0x88e5 (MACsec)");
	assert_string_equal(encrypted.destination, "02:4d:00:00:00:02");
	check_type(decode(DLT_EN10MB, ETH "88e5 04 00 00000001 " DATA_40 ICV, 0),
		TB_FRAME_DATA, "EtherType 0x88e5 (MACsec)");
}

#define FOUR_TAGS "8926 00010002 8926 00010002 8926 00010002 8926 00010002 "

static void tags_of_networks_and_rings_are_passed(void **state)
{
	(void)state;
	check_inner(
		decode(DLT_EN10MB, ETH "8909 01 01 0001 0064 0800 " INNER, 0), 102, 62);
	check_inner(decode(DLT_EN10MB, ETH "892f 1050 0001 0800 " INNER, 0), 100, 60);
}

// FabricPath and TRILL enclose whole frames, which may be flooded: what is within them
// tells who gets it.
static void frames_within_fabrics_count(void **state)
{
	(void)state;
#define FLOODED "01bb00010000 020000010000 "
	check_inner(
		decode(DLT_EN10MB, FLOODED "8903 0060 " ETH "0800 " INNER, 0), 110, 70);
	check_inner(
		decode(DLT_EN10MB,
			FLOODED "22f3 0802 0001 0002 " ETH "8100 0005 0800 " INNER, 0),
		118, 78);
	check_inner(decode(DLT_EN10MB,
			    FLOODED "22f3 0842 0001 0002 01020304 " ETH "0800 " INNER, 0),
		118, 78);
	assert_int_equal(
		decode(DLT_EN10MB,
			FLOODED "8903 0060 ffffffffffff 024d00000001 0800 " INNER, 0)
			.frame.kind,
		TB_FRAME_BROADCAST);
}

// A switch stamps the copies that it hands out, which are longer than what was sent.
static void stamps_of_switches_do_not_count(void **state)
{
	(void)state;
	static const char *const stamps[] = {"0001 0010 5e8f1234 00abcdef ",
		"0002 0010 5e8f1234 00abcdef ", "0001 0110 5e8f1234 00abcdef ",
		"0001 0021 5e8f 00abcdef ", "0002 0120 5e8f 00abcdef "};
	char hex[512];
	for (size_t i = 0; i < sizeof stamps / sizeof *stamps; i++) {
		snprintf(hex, sizeof hex, ETH "d28b %s0800 " INNER, stamps[i]);
		check_inner(decode(DLT_EN10MB, hex, 0), 94, 54);
	}
	check_inner(decode(DLT_EN10MB,
			    ETH "8100 0064 d28b 0001 0010 5e8f1234 00abcdef 8100 0065 "
				"0800 " INNER,
			    0),
		102, 62);
	check_type(
		decode(DLT_EN10MB, ETH "d28b 0003 0010 5e8f1234 00abcdef 0800 " INNER, 0),
		TB_FRAME_DATA, "EtherType 0xd28b (Arista time stamp)");
}

#define FOUR_PBB                                                                         \
	"88e7 00000001 " ETH "88e7 00000001 " ETH "88e7 00000001 " ETH                   \
	"88e7 00000001 " ETH

static void nesting_is_bounded(void **state)
{
	(void)state;
	check_inner(decode(DLT_EN10MB,
			    ETH FOUR_PBB FOUR_PBB FOUR_PBB FOUR_TAGS
			    "88e7 00000001 " ETH "88e7 00000001 " ETH "88e7 00000001 " ETH
			    "0800 " INNER,
			    0),
		94 + 15 * 18 + 24, 54 + 15 * 18 + 24);
	check_type(decode(DLT_EN10MB,
			   ETH FOUR_PBB FOUR_PBB FOUR_PBB FOUR_PBB "0800 " INNER, 0),
		TB_FRAME_UNDECODABLE, "EtherType 0x88e7 (PBB)");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(labels_are_passed_to_the_bottom_of_the_stack),
		cmocka_unit_test(labels_carry_ethernet_with_and_without_a_control_word),
		cmocka_unit_test(what_labels_carry_else_stays_between_macs),
		cmocka_unit_test(pppoe_sessions_carry_ip),
		cmocka_unit_test(tags_of_switches_are_passed),
		cmocka_unit_test(service_headers_are_passed),
		cmocka_unit_test(the_customers_macs_count_in_a_backbone),
		cmocka_unit_test(macsec_is_read_unless_encrypted),
		cmocka_unit_test(tags_of_networks_and_rings_are_passed),
		cmocka_unit_test(frames_within_fabrics_count),
		cmocka_unit_test(stamps_of_switches_do_not_count),
		cmocka_unit_test(nesting_is_bounded),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
