// libpcap reads the capture files written here and finds what was written.
#include "capture_write.h"

#include <pcap/pcap.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define N_PACKETS 9
#define FIRST_NS  UINT64_C(1700000000123456789)

static struct tb_capture_packet packet_of(uint32_t i, unsigned char *bytes)
{
	for (uint32_t k = 0; k < i; k++)
		bytes[k] = (unsigned char)(i * 16 + k);
	return (struct tb_capture_packet){.at_ns = FIRST_NS + i * UINT64_C(999999999),
		.bytes = bytes,
		.n_captured = i,
		.n_wire = i * 100};
}

static char *write_all(
	enum tb_capture_format format, const struct tb_capture_source *source, size_t *n)
{
	char *file = NULL;
	FILE *stream = open_memstream(&file, n);
	struct tb_capture_counts counts = {N_PACKETS, 11, 2, 1};
	tb_capture_write_header(stream, format, source);
	for (uint32_t i = 0; i < N_PACKETS; i++) {
		unsigned char bytes[N_PACKETS];
		struct tb_capture_packet packet = packet_of(i, bytes);
		tb_capture_write_packet(stream, format, &packet);
	}
	tb_capture_write_end(stream, format, FIRST_NS, FIRST_NS + 5, &counts);
	fclose(stream);
	return file;
}

static void assert_libpcap_reads(char *file, size_t n)
{
	char message[PCAP_ERRBUF_SIZE];
	FILE *stream = fmemopen(file, n, "rb");
	pcap_t *pcap = pcap_fopen_offline_with_tstamp_precision(
		stream, PCAP_TSTAMP_PRECISION_NANO, message);
	if (!pcap)
		fail_msg("%s", message);
	assert_int_equal(pcap_datalink(pcap), DLT_EN10MB);
	assert_int_equal(pcap_snapshot(pcap), 4096);
	for (uint32_t i = 0; i < N_PACKETS; i++) {
		struct pcap_pkthdr *header;
		const unsigned char *got;
		unsigned char bytes[N_PACKETS];
		struct tb_capture_packet packet = packet_of(i, bytes);
		assert_int_equal(pcap_next_ex(pcap, &header, &got), 1);
		assert_int_equal(header->ts.tv_sec, packet.at_ns / 1000000000);
		assert_int_equal(header->ts.tv_usec, packet.at_ns % 1000000000);
		assert_int_equal(header->caplen, packet.n_captured);
		assert_int_equal(header->len, packet.n_wire);
		assert_memory_equal(got, bytes, i);
	}
	struct pcap_pkthdr *header;
	const unsigned char *got;
	// libpcap reaches the end only if the statistics are whole, too.
	assert_int_equal(pcap_next_ex(pcap, &header, &got), PCAP_ERROR_BREAK);
	pcap_close(pcap);
}

static void both_formats_are_read_by_libpcap(void **state)
{
	(void)state;
	static const char *const texts[] = {NULL, "", "1", "12", "123", "1234", "12345"};
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		for (size_t k = 0; k < sizeof texts / sizeof *texts; k++)
			for (int format = 0; format < 2; format++) {
				struct tb_capture_source source = {.interface = texts[i],
					.filter = texts[k],
					.link_type = 1,
					.snap_bytes = 4096};
				size_t n;
				char *file = write_all(
					(enum tb_capture_format)format, &source, &n);
				assert_libpcap_reads(file, n);
				free(file);
			}
}

static bool holds(const char *file, size_t n, const void *bytes, size_t n_bytes)
{
	return memmem(file, n, bytes, n_bytes) != NULL;
}

static void pcapng_keeps_names_and_counts(void **state)
{
	(void)state;
	struct tb_capture_source source = {"eth7", "tcp port 4", 1, 4096};
	size_t n;
	char *file = write_all(TB_CAPTURE_PCAPNG, &source, &n);
	// Option code, length, value, as the words that this machine writes.
	const struct {
		uint16_t code, n;
		char text[4];
	} name = {2, 4, {'e', 't', 'h', '7'}};
	const struct {
		uint16_t code, n;
		uint32_t words[2];
	} received = {6, 8, {11, 0}}, captured = {8, 8, {N_PACKETS, 0}},
	  dropped = {7, 8, {2, 0}}, interface = {5, 8, {1, 0}};
	const uint64_t at_ns = FIRST_NS + 5;
	const uint32_t statistics[] = {
		5, 100, 0, (uint32_t)(at_ns >> 32), (uint32_t)at_ns};
	assert_true(holds(file, n, statistics, sizeof statistics));
	assert_true(holds(file, n, &name, sizeof name));
	assert_true(holds(file, n, "\0tcp port 4\0", 12));
	assert_true(holds(file, n, &received, sizeof received));
	assert_true(holds(file, n, &captured, sizeof captured));
	assert_true(holds(file, n, &dropped, sizeof dropped));
	assert_true(holds(file, n, &interface, sizeof interface));
	free(file);
}

static void the_name_decides_the_format(void **state)
{
	(void)state;
	assert_int_equal(tb_capture_format_of("a.pcap"), TB_CAPTURE_PCAP);
	assert_int_equal(tb_capture_format_of("a.b/c.cap"), TB_CAPTURE_PCAP);
	assert_int_equal(tb_capture_format_of("a.pcapng"), TB_CAPTURE_PCAPNG);
	assert_int_equal(tb_capture_format_of("a.pcap/b"), TB_CAPTURE_PCAPNG);
	assert_int_equal(tb_capture_format_of("-"), TB_CAPTURE_PCAPNG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_formats_are_read_by_libpcap),
		cmocka_unit_test(pcapng_keeps_names_and_counts),
		cmocka_unit_test(the_name_decides_the_format),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
