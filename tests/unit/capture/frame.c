// Frames of every link type, written byte by byte, are decoded to endpoints and sizes.
#include "../../support/frame_hex.h"

static void ethernet_and_its_tags_carry_ip(void **state)
{
	(void)state;
	struct decoded plain = decode(DLT_EN10MB, ETH "0800" IPV4 TCP DATA_40, 0);
	check_tcp(&plain, 94, 54);
	struct decoded vlan =
		decode(DLT_EN10MB, ETH "8100 0064 0800" IPV4 TCP DATA_40, 0);
	check_tcp(&vlan, 98, 58);
	struct decoded qinq =
		decode(DLT_EN10MB, ETH "88a8 0064 8100 0065 0800" IPV4 TCP DATA_40, 0);
	check_tcp(&qinq, 102, 62);
	struct decoded snap =
		decode(DLT_EN10MB, ETH "0058 aaaa03000000 0800" IPV4 TCP DATA_40, 0);
	check_tcp(&snap, 102, 62);
	assert_int_equal(plain.frame.digest, vlan.frame.digest);
	assert_int_equal(plain.frame.digest, qinq.frame.digest);
}

static void cooked_raw_and_loopback_count_as_ethernet(void **state)
{
	(void)state;
	struct decoded v1 = decode(DLT_LINUX_SLL,
		"0000 0001 0006 024d00000001 0000 0800" IPV4 TCP DATA_40, 0);
	check_tcp(&v1, 94, 54);
	struct decoded v2 = decode(DLT_LINUX_SLL2,
		"0800 0000 00000007 0001 04 06 024d00000001 0000" IPV4 TCP DATA_40, 0);
	check_tcp(&v2, 94, 54);
	assert_int_not_equal(v2.frame.point, 0);
	struct decoded raw = decode(DLT_RAW, IPV4 TCP DATA_40, 0);
	check_tcp(&raw, 94, 54);
	struct decoded null = decode(DLT_NULL, "02000000" IPV4 TCP DATA_40, 0);
	check_tcp(&null, 94, 54);
	struct decoded loop = decode(DLT_LOOP, "00000002" IPV4 TCP DATA_40, 0);
	check_tcp(&loop, 94, 54);
	assert_int_equal(v1.frame.digest, v2.frame.digest);
	assert_int_equal(v1.frame.digest, raw.frame.digest);
}

static void ipv6_extension_headers_are_passed(void **state)
{
	(void)state;
	// Hop-by-hop, routing and destination options before TCP.
	struct decoded d = decode(DLT_EN10MB,
		ETH "86dd 60000000 0054 00 40 fd000000000000000000000000000001 "
		    "fd000000000000000000000000000002 2b00010400000000 3c00000000000000 "
		    "0600010400000000" TCP DATA_40,
		0);
	assert_int_equal(d.frame.kind, TB_FRAME_DATA);
	assert_string_equal(d.source, "fd00::1");
	assert_string_equal(d.destination, "fd00::2");
	assert_int_equal(d.frame.transport, TB_TRANSPORT_TCP);
	assert_int_equal(d.frame.payload_bytes, 40);
	assert_int_equal(d.frame.header_bytes, 14 + 40 + 24 + 20);
}

static void later_fragments_keep_the_ip_endpoints(void **state)
{
	(void)state;
	struct decoded v4 = decode(DLT_EN10MB,
		ETH "0800 4500 003c 1234 00b9 40 11 0000 0a4d0001 0a4d0002" DATA_40, 0);
	assert_string_equal(v4.source, "10.77.0.1");
	assert_int_equal(v4.frame.payload_bytes, 40);
	assert_int_equal(v4.frame.transport, TB_TRANSPORT_OTHER);
	struct decoded v6 = decode(DLT_EN10MB,
		ETH "86dd 60000000 0030 2c 40 fd000000000000000000000000000001 "
		    "fd000000000000000000000000000002 1100 05a8 00001234" DATA_40,
		0);
	assert_string_equal(v6.destination, "fd00::2");
	assert_int_equal(v6.frame.payload_bytes, 40);
}

static void pure_acknowledgements_and_the_mss_are_recognised(void **state)
{
	(void)state;
	struct decoded ack = decode(DLT_EN10MB,
		ETH "0800 4500 0034 1234 4000 40 06 0000 0a4d0001 0a4d0002 "
		    "9c40 1389 00000064 00000001 8010 0100 0000 0000 0101080a 00000001 "
		    "00000002 0000",
		0); // two bytes of padding
	assert_true(ack.frame.acknowledgement);
	assert_int_equal(ack.frame.payload_bytes, 0);
	assert_int_equal(ack.frame.tcp_options, 12);
	struct decoded syn = decode(DLT_EN10MB,
		ETH "0800 4500 0030 1234 4000 40 06 0000 0a4d0001 0a4d0002 "
		    "9c40 1389 00000063 00000000 7002 0100 0000 0000 01 01 0402 020405b4",
		0);
	assert_false(syn.frame.acknowledgement);
	assert_int_equal(syn.frame.mss, 1460);
}

static void frames_not_between_two_nodes_are_recognised(void **state)
{
	(void)state;
	assert_int_equal(
		decode(DLT_EN10MB, "ffffffffffff 024d00000001 0806 0001", 30).frame.kind,
		TB_FRAME_CONTROL);
	assert_int_equal(decode(DLT_EN10MB, "ffffffffffff 024d00000001 0800" IPV4 TCP, 40)
				 .frame.kind,
		TB_FRAME_BROADCAST);
	assert_int_equal(decode(DLT_EN10MB,
				 "01005e000002 024d00000001 0800 4500 0050 1234 4000 40 "
				 "06 0000 0a4d0001 e0000002" TCP,
				 40)
				 .frame.kind,
		TB_FRAME_MULTICAST);
	assert_int_equal(
		decode(DLT_EN10MB, "0180c2000000 024d00000001 0026 4242", 40).frame.kind,
		TB_FRAME_CONTROL);
	// Priority flow control; a neighbour advertisement to one node.
	assert_int_equal(
		decode(DLT_EN10MB, "0180c2000001 024d00000001 8808 0101", 40).frame.kind,
		TB_FRAME_CONTROL);
	assert_int_equal(
		decode(DLT_EN10MB,
			ETH "86dd 60000000 0018 3a ff fd000000000000000000000000000001 "
			    "fd000000000000000000000000000002 8800 0000 00000000 "
			    "0000000000000000 "
			    "0000000000000000",
			0)
			.frame.kind,
		TB_FRAME_CONTROL);
	assert_int_equal(decode(DLT_EN10MB, ETH, 40).frame.kind, TB_FRAME_UNDECODABLE);
}

// Microsoft's load balancing puts unicast packets under a MAC with the group bit.
static void unicast_ip_under_a_group_mac_is_unicast(void **state)
{
	(void)state;
	struct decoded v4 =
		decode(DLT_EN10MB, "03bf0a4d0002 024d00000001 0800" IPV4 TCP DATA_40, 0);
	check_tcp(&v4, 94, 54);
	struct decoded cooked = decode(DLT_LINUX_SLL,
		"0002 0001 0006 024d00000001 0000 0800" IPV4 TCP DATA_40, 0);
	check_tcp(&cooked, 94, 54);
	struct decoded v6 = decode(DLT_EN10MB,
		"03bf0a4d0002 024d00000001 86dd 60000000 0000 3b 40 "
		"fd000000000000000000000000000001 fd000000000000000000000000000002",
		0);
	assert_int_equal(v6.frame.kind, TB_FRAME_DATA);
	assert_int_equal(
		decode(DLT_EN10MB, "03bf0a4d0002 024d00000001 88a2 0000", 40).frame.kind,
		TB_FRAME_MULTICAST);
}

static struct decoded decode_sliced(const char *hex, uint32_t wire, uint32_t payload)
{
	struct decoded d = decode(DLT_EN10MB, hex, 0);
	assert_int_equal(d.frame.kind, TB_FRAME_DATA);
	assert_true(d.frame.sliced);
	assert_int_equal(d.frame.wire_bytes, wire);
	assert_int_equal(d.frame.payload_bytes, payload);
	return d;
}

#define IPV6_1460                                                                        \
	"86dd 60000000 05b4 06 40 fd000000000000000000000000000001 "                     \
	"fd000000000000000000000000000002 "

// A switch or tap cut them, so the capture has nothing longer; the headers know.
static void sliced_frames_have_the_sizes_of_their_headers(void **state)
{
	(void)state;
#define IPV4_1500 "4500 05dc 1234 4000 40 06 0000 0a4d0001 0a4d0002 "
	struct decoded v4 = decode_sliced(ETH "0800" IPV4_1500 TCP DATA_40, 1514, 1460);
	assert_int_equal(v4.frame.transport, TB_TRANSPORT_TCP);
	decode_sliced(ETH "8100 0064 0800" IPV4_1500 TCP, 1518, 1460);
	decode_sliced(ETH "0800" IPV4_1500, 1514, 1460); // not even TCP's header is left
	decode_sliced(ETH IPV6_1460 TCP, 1514, 1440);
	// RoCE v2 and v1: 12 bytes of transport, 4 of checksum.
	struct decoded v2 = decode_sliced(ETH
		"0800 4500 043c 1234 4000 40 11 0000 0a4d0001 0a4d0002 "
		"c000 12b7 0428 0000 04 40 ffff 00 000012 80 000007 00112233",
		14 + 1084, 1040);
	assert_int_equal(v2.frame.transport, TB_TRANSPORT_RC);
	decode_sliced(ETH "8915 60000000 0410 1b 40 fe800000000000000002c90300000001 "
			  "fe800000000000000002c90300000002 "
			  "04 40 ffff 00 000012 80 000007 00112233",
		14 + 40 + 1040, 1024);
	// In a tunnel that was sliced, both headers count.
	decode_sliced(ETH "0800 4500 060e 1234 4000 40 11 0000 0a190001 0a190002 "
			  "d431 12b5 05fa 0000 0800000000000100 " ETH
			  "0800" IPV4_1500 TCP,
		1564, 1460);
	// A whole frame is not sliced, however little of it was captured.
	assert_false(decode(DLT_EN10MB, ETH "0800" IPV4 TCP, 40).frame.sliced);
	// Behind a label IP is a guess, which its length refutes and its checksum
	// confirms.
	assert_int_equal(
		decode(DLT_EN10MB, ETH "8847 00064140 " IPV4_1500 TCP, 0).frame.registry,
		TB_REGISTRY_ETHER);
	decode_sliced(ETH "8847 00064140 "
			  "4500 05dc 1234 4000 40 06 0e4c 0a4d0001 0a4d0002 " TCP,
		1518, 1460);
}

static void protocols_of_their_own_run_between_macs(void **state)
{
	(void)state;
	struct decoded d = decode(DLT_EN10MB, ETH "88a2" DATA_40, 0); // ATA over Ethernet
	assert_int_equal(d.frame.kind, TB_FRAME_DATA);
	assert_string_equal(d.source, "02:4d:00:00:00:01");
	assert_string_equal(d.destination, "02:4d:00:00:00:02");
	assert_int_equal(d.frame.payload_bytes, 40);
}

static void what_is_not_decoded_is_named_by_its_type(void **state)
{
	(void)state;
	check_type(decode(DLT_EN10MB, "0180c200000e 024d00000001 88cc 0207", 40),
		TB_FRAME_CONTROL, "EtherType 0x88cc (LLDP)");
	check_type(decode(DLT_EN10MB, ETH "88a2" DATA_40, 0), TB_FRAME_DATA,
		"EtherType 0x88a2 (ATA over Ethernet)");
	check_type(decode(DLT_EN10MB, ETH "1234" DATA_40, 0), TB_FRAME_DATA,
		"EtherType 0x1234");
	check_type(decode(DLT_EN10MB, ETH "0800 4500", 40), TB_FRAME_UNDECODABLE,
		"EtherType 0x0800 (IPv4)");
	check_type(decode(DLT_EN10MB, ETH "8100 0064", 40), TB_FRAME_UNDECODABLE,
		"EtherType 0x8100 (VLAN tag)");
	check_type(decode(DLT_EN10MB, "0180c2000000 024d00000001 0026 4242 03", 40),
		TB_FRAME_CONTROL, "LLC 0x42 (spanning tree)");
	check_type(decode(DLT_EN10MB,
			   "01000ccccccc 024d00000001 0026 aaaa03 00000c 2000 02b4", 40),
		TB_FRAME_CONTROL, "Cisco SNAP 0x2000 (CDP)");
	check_type(decode(DLT_EN10MB, "01000ccccccc 024d00000001 0026 aaaa03 00aabb 2000",
			   40),
		TB_FRAME_CONTROL, "LLC 0xaa (SNAP)");
	check_type(decode(DLT_EN10MB,
			   ETH "0800 4500 0050 1234 4000 40 06 0000 0a4d0001 0a4d0002 "
			       "9c40 1389 00000064 00000001 4018 0100 00000000",
			   40),
		TB_FRAME_UNDECODABLE, "IP protocol 6 (TCP)");
	check_type(
		decode(DLT_EN10MB,
			ETH "86dd 60000000 0018 3a ff fd000000000000000000000000000001 "
			    "fd000000000000000000000000000002 8800 0000 00000000",
			16),
		TB_FRAME_CONTROL, "IP protocol 58 (IPv6 neighbour discovery)");
	check_type(decode(DLT_ERF, "0000000000000000 03 04 0044 0000 0034 " DATA_40, 0),
		TB_FRAME_UNDECODABLE, "ERF type 3 (ATM)");
	check_type(decode(DLT_INFINIBAND,
			   "00 02 ffff 0010 0003 04 40 ffff 00 000012 80 000007 " DATA_40
			   "00000000 0000",
			   0),
		TB_FRAME_CONTROL, "EtherType 0x8915 (InfiniBand)");
	check_type(decode(DLT_USER0, DATA_40, 0), TB_FRAME_UNDECODABLE,
		"link type 147 (USER0)");
	check_type(decode(9999, DATA_40, 0), TB_FRAME_UNDECODABLE, "link type 9999");
}

#define BTH_SEND "04 40 ffff 00 000012 80 000007 " // RC send only
#define BTH_ACK	 "11 00 ffff 00 000012 00 000007 1f000000 "
#define GRH                                                                              \
	"60000000 0038 1b 40 fe800000000000000002c90300000001 "                          \
	"fe800000000000000002c90300000002 "

static void check_rc(const struct decoded *d, uint32_t payload)
{
	assert_int_equal(d->frame.kind, TB_FRAME_DATA);
	assert_int_equal(d->frame.transport, TB_TRANSPORT_RC);
	assert_int_equal(d->frame.channel, 0x12);
	assert_int_equal(d->frame.sequence, 7);
	assert_int_equal(d->frame.payload_bytes, payload);
}

static void infiniband_goes_by_lid_or_gid(void **state)
{
	(void)state;
	// 8 + 12 + 40 + 4 bytes are 16 words; then comes the variant CRC.
	struct decoded lid = decode(DLT_INFINIBAND,
		"00 02 0012 0010 0003" BTH_SEND DATA_40 "00000000 0000", 0);
	check_rc(&lid, 40);
	assert_string_equal(lid.source, "lid:3");
	assert_string_equal(lid.destination, "lid:18");
	struct decoded gid = decode(DLT_INFINIBAND,
		"00 03 0012 001a 0003" GRH BTH_SEND DATA_40 "00000000 0000", 0);
	check_rc(&gid, 40);
	assert_string_equal(gid.source, "gid:fe80::2:c903:0:1");
	assert_int_equal(
		decode(DLT_INFINIBAND,
			"00 02 c001 0010 0003" BTH_SEND DATA_40 "00000000 0000", 0)
			.frame.kind,
		TB_FRAME_MULTICAST);
	struct decoded ack =
		decode(DLT_INFINIBAND, "00 02 0012 0007 0003" BTH_ACK "00000000 0000", 0);
	assert_true(ack.frame.acknowledgement);
}

static void erf_wraps_ethernet_and_infiniband(void **state)
{
	(void)state;
	// The length on the wire includes the FCS; two bytes of padding precede Ethernet.
	struct decoded ethernet = decode(DLT_ERF,
		"0000000000000000 02 04 0070 0000 0062 0000" ETH "0800" IPV4 TCP DATA_40,
		4);
	check_tcp(&ethernet, 94, 54);
	struct decoded extended = decode(DLT_ERF,
		"0000000000000000 82 04 0078 0000 0062 0400000000000000 0000" ETH
		"0800" IPV4 TCP DATA_40,
		4);
	check_tcp(&extended, 94, 54);
	struct decoded infiniband = decode(DLT_ERF,
		"0000000000000000 15 04 0052 0000 0042 00 02 0012 0010 0003" BTH_SEND
			DATA_40 "00000000 0000",
		0);
	check_rc(&infiniband, 40);
	assert_int_equal(infiniband.frame.wire_bytes, 66);
}

static void roce_carries_the_same_over_ethernet(void **state)
{
	(void)state;
	struct decoded v1 =
		decode(DLT_EN10MB, ETH "8915" GRH BTH_SEND DATA_40 "00000000", 0);
	check_rc(&v1, 40);
	assert_string_equal(v1.destination, "gid:fe80::2:c903:0:2");
	struct decoded v2 = decode(DLT_EN10MB,
		ETH "0800 4500 0054 1234 4000 40 11 0000 0a4d0001 0a4d0002 "
		    "c000 12b7 0040 0000" BTH_SEND DATA_40 "00000000",
		0);
	check_rc(&v2, 40);
	assert_string_equal(v2.source, "10.77.0.1");
	assert_false(v2.frame.offloadable);
}

static void frames_beyond_64_kilobytes_take_the_frames_length(void **state)
{
	(void)state;
	struct decoded d = decode(DLT_EN10MB,
		ETH "0800 4500 0000 1234 4000 40 06 0000 0a4d0001 0a4d0002" TCP, 100000);
	assert_int_equal(d.frame.payload_bytes, 100000);
	assert_true(d.frame.offloadable);
	struct decoded udp = decode(DLT_EN10MB,
		ETH "0800 4500 0044 1234 4000 40 11 0000 0a4d0001 0a4d0002 "
		    "c000 1234 0030 0000" DATA_40,
		0);
	assert_int_equal(udp.frame.payload_bytes, 40);
	assert_true(udp.frame.offloadable);
}

static void copies_differ_from_repetitions(void **state)
{
	(void)state;
	struct decoded first = decode(DLT_EN10MB, ETH "0800" IPV4 TCP DATA_40, 0);
	struct decoded hop = decode(DLT_EN10MB,
		"024d000000ff 024d000000fe 0800 4500 0050 1234 4000 3f 06 ffff 0a4d0001 "
		"0a4d0002" TCP DATA_40,
		0);
	struct decoded again = decode(DLT_EN10MB,
		ETH "0800 4500 0050 1235 4000 40 06 0000 0a4d0001 0a4d0002" TCP DATA_40,
		0);
	assert_int_equal(first.frame.digest, hop.frame.digest);
	assert_int_not_equal(first.frame.digest, again.frame.digest);
}

static void addresses_read_back_as_they_are_written(void **state)
{
	(void)state;
	static const char *const texts[] = {"10.77.0.1", "fe80::1", "02:4d:00:00:00:0f",
		"lid:18", "gid:fe80::2:c903:0:1"};
	static const char *const wrong[] = {"", "10.77.0", "10.77.0.256",
		"lid:", "lid:65536", "lid:-1", "gid:1", "02:4d:00:00:00",
		"02-4d-00-00-00-0f", "node1", "fe80::1%eth0"};
	char text[TB_ADDRESS_TEXT_SIZE];
	struct tb_address address;
	struct tb_address before = {0};
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		assert_int_equal(tb_address_parse(texts[i], &address), TB_OK);
		assert_string_equal(
			tb_address_format(&address, text, sizeof text), texts[i]);
		assert_int_equal(
			address.kind == TB_ADDRESS_LID || address.kind >= before.kind, 1);
		before = address;
	}
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
		assert_int_equal(tb_address_parse(wrong[i], &address), TB_EUSAGE);
}

#define IPV6_ENDS "fd000000000000000000000000000001 fd000000000000000000000000000002 "

static void first_fragments_have_their_ports(void **state)
{
	(void)state;
	struct decoded v4 = decode(DLT_EN10MB,
		ETH "0800 4500 0050 1234 2000 40 06 0000 0a4d0001 0a4d0002 " TCP DATA_40,
		0);
	check_tcp(&v4, 94, 54);
	struct decoded v6 = decode(DLT_EN10MB,
		ETH "86dd 60000000 0044 2c 40 " IPV6_ENDS
		    "0600 0001 00001234" TCP DATA_40,
		0);
	assert_int_equal(v6.frame.transport, TB_TRANSPORT_TCP);
	assert_int_equal(v6.frame.channel, 40000u << 16 | 5001);
	assert_int_equal(v6.frame.payload_bytes, 40);
}

// RFC 4302 counts in words of 4 bytes less 2, where other extensions count 8 less 1.
static void an_authentication_header_counts_words_of_four_bytes(void **state)
{
	(void)state;
	struct decoded d = decode(DLT_EN10MB,
		ETH "86dd 60000000 0054 33 40 " IPV6_ENDS
		    "06 04 0000 00000100 00000001 000102030405060708090a0b" TCP DATA_40,
		0);
	assert_int_equal(d.frame.transport, TB_TRANSPORT_TCP);
	assert_int_equal(d.frame.header_bytes, 14 + 40 + 24 + 20);
	assert_int_equal(d.frame.payload_bytes, 40);
}

static void neighbour_talk_is_types_130_to_137_and_143(void **state)
{
	(void)state;
	for (unsigned type = 128; type < 146; type++) {
		char hex[256];
		bool talk = (type >= 130 && type <= 137) || type == 143;
		snprintf(hex, sizeof hex,
			ETH "86dd 60000000 0008 3a ff " IPV6_ENDS "%02x00 0000 00000000",
			type);
		assert_int_equal(decode(DLT_EN10MB, hex, 0).frame.kind,
			talk ? TB_FRAME_CONTROL : TB_FRAME_DATA);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ethernet_and_its_tags_carry_ip),
		cmocka_unit_test(cooked_raw_and_loopback_count_as_ethernet),
		cmocka_unit_test(ipv6_extension_headers_are_passed),
		cmocka_unit_test(later_fragments_keep_the_ip_endpoints),
		cmocka_unit_test(pure_acknowledgements_and_the_mss_are_recognised),
		cmocka_unit_test(frames_not_between_two_nodes_are_recognised),
		cmocka_unit_test(unicast_ip_under_a_group_mac_is_unicast),
		cmocka_unit_test(sliced_frames_have_the_sizes_of_their_headers),
		cmocka_unit_test(protocols_of_their_own_run_between_macs),
		cmocka_unit_test(what_is_not_decoded_is_named_by_its_type),
		cmocka_unit_test(infiniband_goes_by_lid_or_gid),
		cmocka_unit_test(erf_wraps_ethernet_and_infiniband),
		cmocka_unit_test(roce_carries_the_same_over_ethernet),
		cmocka_unit_test(frames_beyond_64_kilobytes_take_the_frames_length),
		cmocka_unit_test(copies_differ_from_repetitions),
		cmocka_unit_test(addresses_read_back_as_they_are_written),
		cmocka_unit_test(first_fragments_have_their_ports),
		cmocka_unit_test(an_authentication_header_counts_words_of_four_bytes),
		cmocka_unit_test(neighbour_talk_is_types_130_to_137_and_143),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
