#include "capture_write.h"

#include <string.h>

#define PCAP_MAGIC_NS	UINT32_C(0xa1b23c4d)
#define PCAPNG_MAGIC	UINT32_C(0x1a2b3c4d)
#define BLOCK_OVERHEAD	12u // type, length, length again
#define OPTION_OVERHEAD 4u  // code, length
#define TEXT_MAX	(UINT16_MAX - 3u)
#define NS_PER_S	UINT64_C(1000000000)

enum block_type {
	BLOCK_SECTION = 0x0a0d0d0a,
	BLOCK_INTERFACE = 1,
	BLOCK_STATISTICS = 5,
	BLOCK_PACKET = 6,
};

enum option {
	OPTION_END = 0,
	SECTION_APPLICATION = 4,
	INTERFACE_NAME = 2,
	INTERFACE_RESOLUTION = 9,
	INTERFACE_FILTER = 11,
	STATISTICS_START = 2,
	STATISTICS_END = 3,
	STATISTICS_DROPPED_INTERFACE = 5,
	STATISTICS_RECEIVED = 6, // passed the filter
	STATISTICS_DROPPED = 7,	 // by the system
	STATISTICS_CAPTURED = 8, // delivered to the user
};

static void put_u16(FILE *stream, uint16_t value)
{
	fwrite(&value, sizeof value, 1, stream);
}

static void write_u32(FILE *stream, uint32_t value)
{
	fwrite(&value, sizeof value, 1, stream);
}

static void write_u64(FILE *stream, uint64_t value)
{
	fwrite(&value, sizeof value, 1, stream);
}

// padding: blocks and options end on a multiple of four bytes.
static uint32_t padding(uint32_t n)
{
	return (0u - n) & 3u;
}

static void put_padding(FILE *stream, uint32_t n)
{
	static const unsigned char zeros[4];
	fwrite(zeros, 1, padding(n), stream);
}

static void put_padded(FILE *stream, const void *bytes, uint32_t n)
{
	fwrite(bytes, 1, n, stream);
	put_padding(stream, n);
}

// put_timestamp writes a time as two words, the upper one first in either byte order.
static void put_timestamp(FILE *stream, uint64_t at_ns)
{
	write_u32(stream, (uint32_t)(at_ns >> 32));
	write_u32(stream, (uint32_t)at_ns);
}

static uint32_t option_bytes(uint32_t n)
{
	return OPTION_OVERHEAD + n + padding(n);
}

static void put_option(FILE *stream, enum option code, const void *bytes, uint32_t n)
{
	put_u16(stream, (uint16_t)code);
	put_u16(stream, (uint16_t)n);
	put_padded(stream, bytes, n);
}

static void put_counter(FILE *stream, enum option code, uint64_t count)
{
	put_u16(stream, (uint16_t)code);
	put_u16(stream, sizeof count);
	write_u64(stream, count);
}

static void put_time_option(FILE *stream, enum option code, uint64_t at_ns)
{
	put_u16(stream, (uint16_t)code);
	put_u16(stream, sizeof at_ns);
	put_timestamp(stream, at_ns);
}

static void put_block_end(FILE *stream, uint32_t n_block)
{
	write_u32(stream, OPTION_END);
	write_u32(stream, n_block);
}

// text_bytes cuts texts that do not fit the 16 bits of an option's length.
static uint32_t text_bytes(const char *text)
{
	size_t n = text ? strlen(text) : 0;
	return n > TEXT_MAX ? TEXT_MAX : (uint32_t)n;
}

static void write_interface(FILE *stream, const struct tb_capture_source *source)
{
	static const unsigned char nanoseconds = 9; // 10^-9 s
	// A block begins with its length, so all options are measured before they are
	// written.
	uint32_t n_name = text_bytes(source->interface);
	uint32_t n_filter = text_bytes(source->filter);
	uint32_t n = BLOCK_OVERHEAD + 8 + option_bytes(1) + OPTION_OVERHEAD;
	n += n_name ? option_bytes(n_name) : 0;
	n += n_filter ? option_bytes(n_filter + 1) : 0;
	write_u32(stream, BLOCK_INTERFACE);
	write_u32(stream, n);
	put_u16(stream, source->link_type);
	put_u16(stream, 0);
	write_u32(stream, source->snap_bytes);
	if (n_name)
		put_option(stream, INTERFACE_NAME, source->interface, n_name);
	put_option(stream, INTERFACE_RESOLUTION, &nanoseconds, 1);
	if (n_filter) {
		// Write a filter. Its first byte, 0, marks the rest as text.
		const char *filter = source->filter;
		put_u16(stream, INTERFACE_FILTER);
		put_u16(stream, (uint16_t)(n_filter + 1));
		fputc(0, stream);
		fwrite(filter, 1, n_filter, stream);
		put_padding(stream, n_filter + 1);
	}
	put_block_end(stream, n);
}

void tb_capture_write_header(FILE *stream, enum tb_capture_format format,
	const struct tb_capture_source *source)
{
	if (format == TB_CAPTURE_PCAPNG) {
		static const char application[] = "tailback " TB_VERSION;
		uint32_t n = BLOCK_OVERHEAD + 16 + option_bytes(sizeof application - 1) +
			     OPTION_OVERHEAD;
		write_u32(stream, BLOCK_SECTION);
		write_u32(stream, n);
		write_u32(stream, PCAPNG_MAGIC);
		put_u16(stream, 1); // version 1.0
		put_u16(stream, 0);
		write_u64(stream, UINT64_MAX); // length of the section: unknown
		put_option(
			stream, SECTION_APPLICATION, application, sizeof application - 1);
		put_block_end(stream, n);
		write_interface(stream, source);
		return;
	}
	write_u32(stream, PCAP_MAGIC_NS);
	put_u16(stream, 2); // version 2.4
	put_u16(stream, 4);
	write_u64(stream, 0); // two reserved words
	write_u32(stream, source->snap_bytes);
	write_u32(stream, source->link_type);
}

void tb_capture_write_packet(FILE *stream, enum tb_capture_format format,
	const struct tb_capture_packet *packet)
{
	uint32_t n_block =
		BLOCK_OVERHEAD + 20 + packet->n_captured + padding(packet->n_captured);
	if (format == TB_CAPTURE_PCAPNG) {
		write_u32(stream, BLOCK_PACKET);
		write_u32(stream, n_block);
		write_u32(stream, 0); // interface
		put_timestamp(stream, packet->at_ns);
	} else {
		write_u32(stream, (uint32_t)(packet->at_ns / NS_PER_S));
		write_u32(stream, (uint32_t)(packet->at_ns % NS_PER_S));
	}
	write_u32(stream, packet->n_captured);
	write_u32(stream, packet->n_wire);
	if (format == TB_CAPTURE_PCAPNG) {
		put_padded(stream, packet->bytes, packet->n_captured);
		write_u32(stream, n_block);
	} else {
		fwrite(packet->bytes, 1, packet->n_captured, stream);
	}
}

void tb_capture_write_end(FILE *stream, enum tb_capture_format format, uint64_t from_ns,
	uint64_t to_ns, const struct tb_capture_counts *counts)
{
	if (format != TB_CAPTURE_PCAPNG)
		return;
	uint32_t n = BLOCK_OVERHEAD + 12 + 6 * option_bytes(8) + OPTION_OVERHEAD;
	write_u32(stream, BLOCK_STATISTICS);
	write_u32(stream, n);
	write_u32(stream, 0); // interface
	put_timestamp(stream, to_ns);
	put_time_option(stream, STATISTICS_START, from_ns);
	put_time_option(stream, STATISTICS_END, to_ns);
	put_counter(stream, STATISTICS_DROPPED_INTERFACE, counts->dropped_interface);
	put_counter(stream, STATISTICS_RECEIVED, counts->received);
	put_counter(stream, STATISTICS_DROPPED, counts->dropped);
	put_counter(stream, STATISTICS_CAPTURED, counts->captured);
	put_block_end(stream, n);
}

enum tb_capture_format tb_capture_format_of(const char *path)
{
	static const char *const endings[] = {".pcap", ".cap", ".dmp"};
	const char *dot = strrchr(path, '.');
	for (size_t i = 0; dot && i < sizeof endings / sizeof *endings; i++)
		if (strcmp(dot, endings[i]) == 0)
			return TB_CAPTURE_PCAP;
	return TB_CAPTURE_PCAPNG;
}
