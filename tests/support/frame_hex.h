// Frames written as hex with blanks, for the tests of the decoder.
#ifndef FRAME_HEX_H
#define FRAME_HEX_H

#include "frame.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>
#include <pcap/pcap.h>

// A decoded frame, with its addresses as text.
struct decoded {
	struct tb_frame frame;
	char source[TB_ADDRESS_TEXT_SIZE];
	char destination[TB_ADDRESS_TEXT_SIZE];
};

// decode decodes a frame of which `hex` was captured and `more` further bytes were not.
static inline struct decoded decode(int link_type, const char *hex, uint32_t more)
{
	struct decoded decoded;
	struct tb_frame_ends ends;
	uint8_t *bytes = malloc(strlen(hex) / 2 + 1);
	size_t n = 0;
	for (; *hex; hex++) {
		if (*hex == ' ')
			continue;
		char digits[3] = {hex[0], hex[1], 0};
		bytes[n++] = (uint8_t)strtoul(digits, NULL, 16);
		hex++;
	}
	// Copy it to exactly sized memory, so that a sanitizer sees reads past the end;
	// do so for every shorter length, too.
	for (size_t cut = 0; cut <= n; cut++) {
		uint8_t *exact = malloc(cut ? cut : 1);
		memcpy(exact, bytes, cut);
		tb_frame_decode(&decoded.frame, &ends, link_type,
			(struct tb_bytes){exact, cut}, (uint32_t)n + more, true);
		free(exact);
		// However much is cut off, data has two endpoints of one kind.
		if (decoded.frame.kind == TB_FRAME_DATA) {
			assert_int_not_equal(ends.source.kind, TB_ADDRESS_NONE);
			assert_int_equal(ends.source.kind, ends.destination.kind);
		}
	}
	free(bytes);
	tb_address_format(&ends.source, decoded.source, sizeof decoded.source);
	tb_address_format(
		&ends.destination, decoded.destination, sizeof decoded.destination);
	return decoded;
}

#define ETH  "024d00000002 024d00000001 "
#define IPV4 "4500 0050 1234 4000 40 06 0000 0a4d0001 0a4d0002 "
#define TCP                                                                              \
	"9c40 1389 00000064 00000001 5018 0100 0000 0000 " // 20 bytes, ports 40000, 5001
#define DATA_40                                                                          \
	"0001020304050607 0001020304050607 0001020304050607 0001020304050607 "           \
	"0001020304050607 "

static inline void check_tcp(const struct decoded *d, uint32_t wire, uint32_t header)
{
	assert_int_equal(d->frame.kind, TB_FRAME_DATA);
	assert_int_equal(d->frame.transport, TB_TRANSPORT_TCP);
	assert_string_equal(d->source, "10.77.0.1");
	assert_string_equal(d->destination, "10.77.0.2");
	assert_int_equal(d->frame.wire_bytes, wire);
	assert_int_equal(d->frame.header_bytes, header);
	assert_int_equal(d->frame.payload_bytes, 40);
	assert_int_equal(d->frame.sequence, 100);
	assert_int_equal(d->frame.channel, 40000u << 16 | 5001);
	assert_false(d->frame.acknowledgement);
}

#define INNER IPV4 TCP DATA_40

// check_inner expects INNER, with the same digest as when nothing surrounds it.
static inline void check_inner(struct decoded d, uint32_t wire, uint32_t header)
{
	struct decoded bare = decode(DLT_RAW, INNER, 0);
	check_tcp(&d, wire, header);
	assert_true(d.frame.digest == bare.frame.digest);
	assert_int_equal(d.frame.network_header_bytes, 40);
	assert_int_equal(d.frame.registry, TB_REGISTRY_NONE);
}

// check_type compares kind and type of a frame that was not fully decoded.
static inline void check_type(
	struct decoded d, enum tb_frame_kind kind, const char *expected)
{
	assert_int_equal(d.frame.kind, kind);
	char text[TB_FRAME_TYPE_TEXT_SIZE];
	struct tb_frame_type type = {d.frame.type, d.frame.registry};
	assert_string_equal(tb_frame_type_format(type, text, sizeof text), expected);
}

#endif
