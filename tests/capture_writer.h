// Writes small captures for tests: pcap and pcapng, TCP and UDP between nodes 10.77.0.N.
#ifndef TB_TEST_CAPTURE_WRITER_H
#define TB_TEST_CAPTURE_WRITER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct capture {
	bool micro;
	bool swapped;
	bool ng;
	uint16_t identification;
	uint16_t link_type;
	size_t n;
	uint8_t bytes[1 << 16];
};

static inline void capture_put(uint8_t *at, uint64_t value, size_t n)
{
	for (size_t i = 0; i < n; i++)
		at[i] = (uint8_t)(value >> (8 * (n - 1 - i)));
}

// capture_word adds a number in the byte order of the file.
static inline void capture_word(struct capture *capture, uint64_t value, size_t n)
{
	uint8_t *at = capture->bytes + capture->n;
	capture_put(at, value, n);
	for (size_t i = 0; !capture->swapped && i < n / 2; i++) {
		uint8_t byte = at[i];
		at[i] = at[n - 1 - i];
		at[n - 1 - i] = byte;
	}
	capture->n += n;
}

static inline void capture_begin(struct capture *capture, uint16_t link_type)
{
	memset(capture, 0, sizeof *capture);
	capture->link_type = link_type;
	capture->n = 24; // the header is written at the end, when all choices are known
}

// capture_head writes the file's header, unless that is done.
static inline void capture_head(struct capture *capture)
{
	size_t n = capture->n;
	if (capture->ng || capture->bytes[0] != 0)
		return;
	capture->n = 0;
	capture_word(capture, capture->micro ? 0xa1b2c3d4 : 0xa1b23c4d, 4);
	capture_word(capture, 2, 2);
	capture_word(capture, 4, 2);
	capture_word(capture, 0, 8);
	capture_word(capture, 262144, 4);
	capture_word(capture, capture->link_type, 4);
	capture->n = n;
}

static inline void capture_end(struct capture *capture, const char *path)
{
	capture_head(capture);
	FILE *file = fopen(path, "wb");
	if (!file || fwrite(capture->bytes, 1, capture->n, file) != capture->n ||
		fclose(file) != 0)
		abort();
}

static inline void capture_record(struct capture *capture, uint64_t at_ns,
	const uint8_t *frame, uint32_t captured, uint32_t wire)
{
	capture_word(capture, at_ns / 1000000000, 4);
	capture_word(capture, at_ns % 1000000000 / (capture->micro ? 1000 : 1), 4);
	capture_word(capture, captured, 4);
	capture_word(capture, wire, 4);
	memcpy(capture->bytes + capture->n, frame, captured);
	capture->n += captured;
}

// capture_ip builds Ethernet and IPv4 headers.
static inline void capture_ip(struct capture *capture, uint8_t frame[80], uint8_t source,
	uint8_t destination, uint8_t protocol, uint32_t bytes)
{
	memset(frame, 0, 80);
	capture_put(frame, 0x024d00000000 + destination, 6);
	capture_put(frame + 6, 0x024d00000000 + source, 6);
	capture_put(frame + 12, 0x0800, 2);
	capture_put(frame + 14, 0x4500, 2);
	capture_put(frame + 16, 20 + bytes, 2);
	capture_put(frame + 18, capture->identification, 2);
	capture_put(frame + 22, 64, 1);
	capture_put(frame + 23, protocol, 1);
	capture_put(frame + 26, 0x0a4d0000 + source, 4);
	capture_put(frame + 30, 0x0a4d0000 + destination, 4);
}

// capture_segment builds a segment with the time stamp option: 66 bytes of headers.
static inline void capture_segment(struct capture *capture, uint8_t frame[80],
	uint8_t source, uint8_t destination, uint16_t port, uint32_t sequence,
	uint32_t payload)
{
	// A copy has the same bytes: identification follows from the content.
	capture->identification = (uint16_t)(sequence + payload);
	capture_ip(capture, frame, source, destination, 6, 32 + payload);
	capture_put(frame + 34, source < destination ? port : 5000, 2);
	capture_put(frame + 36, source < destination ? 5000 : port, 2);
	capture_put(frame + 38, sequence, 4);
	capture_put(frame + 42, 1, 4);
	capture_put(frame + 46, 0x8010, 2);
	capture_put(frame + 54, 0x0101080a, 4);
}

static inline void capture_tcp(struct capture *capture, uint64_t at_ns, uint8_t source,
	uint8_t destination, uint16_t port, uint32_t sequence, uint32_t payload)
{
	uint8_t frame[80];
	capture_segment(capture, frame, source, destination, port, sequence, payload);
	capture_record(capture, at_ns, frame, 66, 66 + payload);
}

static inline void capture_syn(struct capture *capture, uint64_t at_ns, uint8_t source,
	uint8_t destination, uint32_t sequence, uint16_t mss)
{
	uint8_t frame[80];
	capture_ip(capture, frame, source, destination, 6, 24);
	capture_put(frame + 34, source < destination ? 1 : 5000, 2);
	capture_put(frame + 36, source < destination ? 5000 : 1, 2);
	capture_put(frame + 38, sequence, 4);
	capture_put(frame + 46, 0x6002, 2);
	capture_put(frame + 54, 0x02040000 + mss, 4);
	capture_record(capture, at_ns, frame, 58, 60);
}

static inline void capture_udp(struct capture *capture, uint64_t at_ns, uint8_t source,
	uint8_t destination, uint32_t payload)
{
	uint8_t frame[80];
	capture_ip(capture, frame, source, destination, 17, 8 + payload);
	capture_put(frame + 34, 700, 2);
	capture_put(frame + 36, 800, 2);
	capture_put(frame + 38, 8 + payload, 2);
	capture_record(capture, at_ns, frame, 64, 42 + payload);
}

static inline void capture_arp(struct capture *capture, uint64_t at_ns, uint8_t source)
{
	uint8_t frame[80] = {0};
	capture_put(frame, 0xffffffffffff, 6);
	capture_put(frame + 6, 0x024d00000000 + source, 6);
	capture_put(frame + 12, 0x0806, 2);
	capture_record(capture, at_ns, frame, 42, 42);
}

static inline void capture_ng_begin(struct capture *capture)
{
	memset(capture, 0, sizeof *capture);
	capture->ng = true;
	capture_word(capture, 0x0a0d0d0a, 4);
	capture_word(capture, 28, 4);
	capture_word(capture, 0x1a2b3c4d, 4);
	capture_word(capture, 1, 2);
	capture_word(capture, 0, 2);
	capture_word(capture, UINT64_MAX, 8);
	capture_word(capture, 28, 4);
}

// Nanosecond stamps: option 9 of the interface.
static inline void capture_ng_interface(
	struct capture *capture, uint16_t link_type, uint32_t snapshot_bytes)
{
	capture_word(capture, 1, 4);
	capture_word(capture, 32, 4);
	capture_word(capture, link_type, 2);
	capture_word(capture, 0, 2);
	capture_word(capture, snapshot_bytes, 4);
	capture_word(capture, 9, 2);
	capture_word(capture, 1, 2);
	capture->bytes[capture->n] = 9;
	capture->n += 4;
	capture_word(capture, 0, 4);
	capture_word(capture, 32, 4);
}

static inline void capture_ng_record(struct capture *capture, uint32_t interface,
	uint64_t at_ns, const uint8_t *frame, uint32_t captured, uint32_t wire)
{
	uint32_t padded = (captured + 3) & ~3u;
	capture_word(capture, 6, 4);
	capture_word(capture, 32 + padded, 4);
	capture_word(capture, interface, 4);
	capture_word(capture, at_ns >> 32, 4);
	capture_word(capture, at_ns & UINT32_MAX, 4);
	capture_word(capture, captured, 4);
	capture_word(capture, wire, 4);
	memcpy(capture->bytes + capture->n, frame, captured);
	capture->n += padded;
	capture_word(capture, 32 + padded, 4);
}

// capture_ng_tcp puts the segment on interface 0 as Ethernet, on others as raw IP.
static inline void capture_ng_tcp(struct capture *capture, uint32_t interface,
	uint64_t at_ns, uint8_t source, uint8_t destination, uint32_t sequence,
	uint32_t payload)
{
	uint8_t frame[80];
	uint32_t skip = interface == 0 ? 0 : 14;
	uint32_t captured = 66 - skip;
	capture_segment(capture, frame, source, destination, 1, sequence, payload);
	capture_ng_record(
		capture, interface, at_ns, frame + skip, captured, captured + payload);
}

// capture_ng_tunnel puts the segment within IP in IP, between hosts 100 and 101.
static inline void capture_ng_tunnel(struct capture *capture, uint32_t interface,
	uint64_t at_ns, uint8_t source, uint8_t destination, uint32_t sequence,
	uint32_t payload)
{
	uint8_t frame[80 + 20];
	uint8_t inner[80];
	capture_segment(capture, inner, source, destination, 1, sequence, payload);
	capture_ip(capture, frame, 100, 101, 4, 52 + payload);
	memcpy(frame + 34, inner + 14, 52);
	capture_ng_record(capture, interface, at_ns, frame, 86, 86 + payload);
}

#endif
