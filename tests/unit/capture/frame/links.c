// Link types other than Ethernet, written byte by byte: each counts an Ethernet header
// instead of its own.
#include "../../../support/frame_hex.h"

#define TO   "024d00000002 "
#define FROM "024d00000001 "
#define ELSE "024d000000ff "
#define SNAP "aaaa03000000 0800 "

static void ppp_is_read_with_and_without_framing(void **state)
{
	(void)state;
	check_inner(decode(DLT_PPP, "ff03 0021 " INNER, 0), 94, 54);
	check_inner(decode(DLT_PPP, "0021 " INNER, 0), 94, 54);
	check_inner(decode(DLT_PPP, "21 " INNER, 0), 94, 54);
	check_inner(decode(DLT_PPP_SERIAL, "ff03 0021 " INNER, 0), 94, 54);
	check_inner(decode(DLT_PPP_SERIAL, "0f00 0800 " INNER, 0), 94, 54);
	check_inner(decode(DLT_PPP_PPPD, "0103 0021 " INNER, 0), 94, 54);
	check_inner(decode(DLT_PPP_WITH_DIR, "01 ff03 0021 " INNER, 0), 94, 54);
	check_inner(decode(DLT_PPP, "ff03 0281 00064140 " INNER, 0), 98, 58);
	check_type(decode(DLT_PPP, "ff03 8021 0101 000a 0306 0a4d0001", 0),
		TB_FRAME_CONTROL, "PPP protocol 0x8021 (IPCP)");
	check_type(decode(DLT_PPP, "ff03 00fd " DATA_40, 0), TB_FRAME_UNDECODABLE,
		"PPP protocol 0x00fd (compressed)");
}

static void hdlc_of_cisco_names_an_ethertype(void **state)
{
	(void)state;
	check_inner(decode(DLT_C_HDLC, "0f00 0800 " INNER, 0), 94, 54);
	check_inner(decode(DLT_C_HDLC_WITH_DIR, "00 0f00 0800 " INNER, 0), 94, 54);
	check_type(decode(DLT_C_HDLC, "8f00 8035 00000002 00000005 00000002 ffff", 0),
		TB_FRAME_CONTROL, "EtherType 0x8035 (RARP, SLARP)");
	assert_int_equal(
		decode(DLT_C_HDLC, "8f00 0800 " INNER, 0).frame.kind, TB_FRAME_BROADCAST);
	check_type(decode(DLT_C_HDLC, "0f00 88a2 " DATA_40, 0), TB_FRAME_UNDECODABLE,
		"EtherType 0x88a2 (ATA over Ethernet)");
}

static void frame_relay_is_read_in_its_encapsulations(void **state)
{
	(void)state;
	check_inner(decode(DLT_FRELAY, "1841 03 cc " INNER, 0), 94, 54);
	check_inner(decode(DLT_FRELAY, "18404001 03 00 cc " INNER, 0), 94, 54);
	check_inner(decode(DLT_FRELAY_WITH_DIR, "01 1841 03 cc " INNER, 0), 94, 54);
	check_inner(decode(DLT_FRELAY, "1841 03 00 80 000000 0800 " INNER, 0), 94, 54);
	check_inner(decode(DLT_FRELAY, "1841 03 00 80 0080c2 0007 " ETH "0800 " INNER, 0),
		94, 54);
	check_inner(decode(DLT_FRELAY,
			    "1841 03 00 80 0080c2 0001 " ETH "0800 " INNER "00112233", 0),
		94, 54);
	check_inner(decode(DLT_FRELAY, "1841 03 cf 0021 " INNER, 0), 96, 56);
	check_inner(decode(DLT_FRELAY, "1841 0800 " INNER, 0), 94, 54); // Cisco's
	check_type(decode(DLT_FRELAY, "0001 03 08 00 75 95 01 01 00 03 02 01 00", 0),
		TB_FRAME_CONTROL, "NLPID 0x08 (Q.933)");
	check_type(decode(DLT_FRELAY, "1841 03 b1 " DATA_40, 0), TB_FRAME_UNDECODABLE,
		"NLPID 0xb1 (fragment)");
	check_type(decode(DLT_FRELAY, "1941 03 cc " INNER, 0), TB_FRAME_UNDECODABLE,
		"link type 107 (FRELAY)");
}

static void slip_follows_its_header(void **state)
{
	(void)state;
	check_inner(
		decode(DLT_SLIP, "01 450000501234400040060000000000 " INNER, 0), 94, 54);
	check_type(decode(DLT_SLIP, "01 800000000000000000000000000000 " DATA_40, 0),
		TB_FRAME_UNDECODABLE, "link type 8 (SLIP)");
}

static void sunatm_carries_llc_ethernet_and_ip(void **state)
{
	(void)state;
	check_inner(decode(DLT_SUNATM, "82 00 0064 " SNAP INNER, 0), 94, 54);
	check_inner(decode(DLT_SUNATM, "01 00 0064 0001 " ETH "0800 " INNER, 0), 94, 54);
	check_inner(decode(DLT_SUNATM,
			    "02 00 0064 aaaa03 0080c2 0007 0000 " ETH "0800 " INNER, 0),
		94, 54);
	check_inner(decode(DLT_SUNATM, "00 00 0064 " INNER, 0), 94, 54);
	check_type(decode(DLT_SUNATM, "05 00 0010 3020 0201 00", 0), TB_FRAME_CONTROL,
		"SunATM type 5 (ILMI)");
	check_type(decode(DLT_SUNATM, "01 00 0064 ff00 0101 0001", 0), TB_FRAME_CONTROL,
		"SunATM type 1 (LAN emulation)");
}

static void nflog_is_read_in_both_byte_orders(void **state)
{
	(void)state;
	check_inner(decode(DLT_NFLOG,
			    "02 00 0000 0800 0100 0800 01 00 0500 0a00 00 000000 "
			    "5400 0900 " INNER,
			    0),
		94, 54);
	check_inner(decode(DLT_NFLOG,
			    "02 00 0000 0008 0001 0800 01 00 0005 000a 00 000000 "
			    "0054 0009 " INNER,
			    0),
		94, 54);
	check_inner(decode(DLT_NFLOG, "02 00 0000 5400 0900 " INNER, 0), 94, 54);
	check_type(decode(DLT_NFLOG, "02 00 0000 0800 0100 0800 01 00", 0),
		TB_FRAME_UNDECODABLE, "link type 239 (NFLOG)");
	check_type(decode(DLT_NFLOG, "02 01 0000 5400 0900 " INNER, 0),
		TB_FRAME_UNDECODABLE, "link type 239 (NFLOG)");
}

static void ip_over_infiniband_follows_its_addresses(void **state)
{
	(void)state;
#define ADDRESSES                                                                        \
	"00000000000000000000000000000000 00000000 8000054e fe800000000000000002c903 "   \
	"00000002 "
	check_inner(decode(DLT_IPOIB, ADDRESSES "0800 0000 " INNER, 0), 94, 54);
	check_type(decode(DLT_IPOIB, ADDRESSES "0806 0000 0020 0800 14 04 0001", 40),
		TB_FRAME_CONTROL, "EtherType 0x0806 (ARP)");
}

static void tags_of_switch_chips_are_passed(void **state)
{
	(void)state;
	check_inner(decode(DLT_DSA_TAG_DSA, ETH "c0080001 0800 " INNER, 0), 98, 58);
	check_inner(
		decode(DLT_DSA_TAG_EDSA, ETH "dada0000c0080001 0800 " INNER, 0), 102, 62);
	check_inner(decode(DLT_DSA_TAG_BRCM, ETH "2c000080 0800 " INNER, 0), 98, 58);
	check_inner(decode(DLT_DSA_TAG_BRCM_PREPEND, "2c000080 " ETH "0800 " INNER, 0),
		98, 58);
}

static void ppi_names_the_link_type_within(void **state)
{
	(void)state;
	check_inner(decode(DLT_PPI, "00 00 0800 01000000 " ETH "0800 " INNER, 0), 94, 54);
	check_inner(
		decode(DLT_PPI,
			"00 00 0800 69000000 0802 0000 " TO ELSE FROM "0000 " SNAP INNER,
			0),
		94, 54);
	// The field of 802.11 has the flag for a captured FCS.
	struct decoded fcs = decode(DLT_PPI,
		"00 00 2000 69000000 0200 1400 0000000000000000 0100 "
		"00000000000000000000 0842 0000 " TO ELSE FROM "0000 " DATA_40 "00112233",
		0);
	check_type(fcs, TB_FRAME_DATA, "802.11 type 0x20 (data), encrypted");
	assert_int_equal(fcs.frame.payload_bytes, 40);
	check_type(decode(DLT_PPI, "00 00 0800 93000000 " INNER, 0), TB_FRAME_UNDECODABLE,
		"link type 147 (USER0)");
	check_type(decode(DLT_PPI, "00 00 0800 c0000000 00 00 0800 0c000000 " INNER, 0),
		TB_FRAME_UNDECODABLE, "link type 192 (PPI)");
}

static void wlan_ends_are_those_beyond_the_access_points(void **state)
{
	(void)state;
	static const char *const frames[] = {
		"0800 0000 " TO FROM ELSE "1000 " SNAP INNER,
		"0801 0000 " ELSE FROM TO "1000 " SNAP INNER,
		"0802 0000 " TO ELSE FROM "1000 " SNAP INNER,
		"0803 0000 " ELSE ELSE TO "1000 " FROM SNAP INNER,
		"8802 0000 " TO ELSE FROM "1000 0000 " SNAP INNER,
		"8882 0000 " TO ELSE FROM "1000 0000 00000000 " SNAP INNER,
		"8803 0000 " ELSE ELSE TO "1000 " FROM "0000 " SNAP INNER,
	};
	for (size_t i = 0; i < sizeof frames / sizeof *frames; i++)
		check_inner(decode(DLT_IEEE802_11, frames[i], 0), 94, 54);
	// Of ATA over Ethernet, the MACs are the endpoints, whichever way it goes.
	static const char *const ways[] = {"0800 0000 " TO FROM ELSE "1000 ",
		"0801 0000 " ELSE FROM TO "1000 ", "0802 0000 " TO ELSE FROM "1000 ",
		"0803 0000 " ELSE ELSE TO "1000 " FROM};
	for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
		char frame[512];
		snprintf(frame, sizeof frame, "%saaaa03000000 88a2 " DATA_40, ways[i]);
		struct decoded aoe = decode(DLT_IEEE802_11, frame, 0);
		check_type(aoe, TB_FRAME_DATA, "EtherType 0x88a2 (ATA over Ethernet)");
		assert_string_equal(aoe.source, "02:4d:00:00:00:01");
		assert_string_equal(aoe.destination, "02:4d:00:00:00:02");
	}
}

static void radiotap_knows_of_padding_and_fcs(void **state)
{
	(void)state;
	check_inner(
		decode(DLT_IEEE802_11_RADIO,
			"00 00 0800 00000000 0802 0000 " TO ELSE FROM "1000 " SNAP INNER,
			0),
		94, 54);
	// Two presence words; flags: FCS and padding to four bytes.
	check_inner(
		decode(DLT_IEEE802_11_RADIO,
			"00 00 1000 02000080 00000000 30 000000 8802 0000 " TO ELSE FROM
			"1000 0000 0000 " SNAP INNER "00112233",
			0),
		94, 54);
	// The time is aligned to eight bytes and precedes the flags: a wrong FCS.
	check_type(decode(DLT_IEEE802_11_RADIO,
			   "00 00 1900 03000080 00000000 00000000 0000000000000000 50 "
			   "0802 0000 " TO ELSE FROM "1000 " SNAP INNER "00112233",
			   0),
		TB_FRAME_UNDECODABLE, "802.11 type 0x20 (data), wrong FCS");
}

static void what_wlan_does_not_show_is_named(void **state)
{
	(void)state;
	check_type(decode(DLT_IEEE802_11,
			   "8000 0000 ffffffffffff " FROM FROM "1000 " DATA_40, 0),
		TB_FRAME_CONTROL, "802.11 type 0x08 (beacon)");
	check_type(decode(DLT_IEEE802_11, "d400 0000 " TO, 0), TB_FRAME_CONTROL,
		"802.11 type 0x1d (ack)");
	check_type(decode(DLT_IEEE802_11, "4801 0000 " ELSE FROM TO "1000", 0),
		TB_FRAME_CONTROL, "802.11 type 0x24 (no data)");
	struct decoded encrypted =
		decode(DLT_IEEE802_11, "8842 0000 " TO ELSE FROM "1000 0000 " DATA_40, 0);
	check_type(encrypted, TB_FRAME_DATA, "802.11 type 0x28 (QoS data), encrypted");
	assert_string_equal(encrypted.source, "02:4d:00:00:00:01");
	assert_int_equal(encrypted.frame.payload_bytes, 40);
	check_type(
		decode(DLT_IEEE802_11, "0806 0000 " TO ELSE FROM "1000 " SNAP INNER, 0),
		TB_FRAME_DATA, "802.11 type 0x20 (data), fragment");
	check_type(decode(DLT_IEEE802_11, "0802 0000 " TO ELSE FROM "1100 " DATA_40, 0),
		TB_FRAME_DATA, "802.11 type 0x20 (data), fragment");
	assert_int_equal(
		decode(DLT_IEEE802_11,
			"0802 0000 ffffffffffff " ELSE FROM "1000 " SNAP INNER, 0)
			.frame.kind,
		TB_FRAME_BROADCAST);
}

// Two subframes of 88 bytes each; only the transport of the first is decoded.
static void an_aggregate_counts_by_its_first_frame(void **state)
{
	(void)state;
	struct decoded d = decode(DLT_IEEE802_11,
		"8802 0000 " TO ELSE ELSE "1000 8000 " TO FROM "0058 " SNAP INNER
		"0000 " TO FROM "0058 " SNAP INNER,
		0);
	assert_int_equal(d.frame.kind, TB_FRAME_DATA);
	assert_string_equal(d.source, "10.77.0.1");
	assert_int_equal(d.frame.payload_bytes, 40);
	assert_int_equal(d.frame.wire_bytes, 14 + 2 * (14 + 88) + 2);
}

// PKTAP's header has no fixed length; Juniper's has extensions, or none.
static void headers_of_capturing_machines_do_not_count(void **state)
{
	(void)state;
	check_inner(decode(DLT_PKTAP,
			    "10000000 01000000 01000000 656e3000 " ETH "0800 " INNER, 0),
		94, 54);
	check_type(decode(DLT_PKTAP, "10000000 00000000 01000000 656e3000 " DATA_40, 0),
		TB_FRAME_UNDECODABLE, "link type 258 (PKTAP)");
	check_inner(decode(DLT_JUNIPER_ETHER,
			    "4d4743 80 0006 030106 010e01 " ETH "0800 " INNER, 0),
		94, 54);
	check_inner(decode(DLT_JUNIPER_ETHER, "4d4743 01 " ETH "0800 " INNER, 0), 94, 54);
	assert_int_equal(
		decode(DLT_JUNIPER_ETHER, "4d4743 02 00000002 " INNER, 0).frame.kind,
		TB_FRAME_UNDECODABLE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ppp_is_read_with_and_without_framing),
		cmocka_unit_test(hdlc_of_cisco_names_an_ethertype),
		cmocka_unit_test(frame_relay_is_read_in_its_encapsulations),
		cmocka_unit_test(slip_follows_its_header),
		cmocka_unit_test(sunatm_carries_llc_ethernet_and_ip),
		cmocka_unit_test(nflog_is_read_in_both_byte_orders),
		cmocka_unit_test(ip_over_infiniband_follows_its_addresses),
		cmocka_unit_test(tags_of_switch_chips_are_passed),
		cmocka_unit_test(ppi_names_the_link_type_within),
		cmocka_unit_test(wlan_ends_are_those_beyond_the_access_points),
		cmocka_unit_test(radiotap_knows_of_padding_and_fcs),
		cmocka_unit_test(what_wlan_does_not_show_is_named),
		cmocka_unit_test(an_aggregate_counts_by_its_first_frame),
		cmocka_unit_test(headers_of_capturing_machines_do_not_count),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
