// Writes capture files of one interface: pcap, and pcapng, which libpcap 1.10 cannot
// write.
//
// Formats: draft-ietf-opsawg-pcapng, section 4 (a section header, an interface
// description, a block per packet, interface statistics at the end);
// draft-ietf-opsawg-pcap (magic 0xa1b23c4d). Both have nanosecond stamps and the byte
// order of the machine, because that is also the byte order of some link headers. For
// write errors check ferror(stream).
#ifndef TB_CAPTURE_WRITE_H
#define TB_CAPTURE_WRITE_H

#include <stdint.h>
#include <stdio.h>

enum tb_capture_format { TB_CAPTURE_PCAPNG, TB_CAPTURE_PCAP };

// tb_capture_format_of returns the format for a file name: pcap for ".pcap", ".cap" and
// ".dmp", otherwise pcapng.
enum tb_capture_format tb_capture_format_of(const char *path);

struct tb_capture_source {
	const char *interface; // NULL or "": none; only pcapng stores it
	const char *filter;    // pcap filter; NULL or "": none; only pcapng stores it
	uint16_t link_type;    // LINKTYPE_ value
	uint32_t snap_bytes;
};

void tb_capture_write_header(FILE *stream, enum tb_capture_format format,
	const struct tb_capture_source *source);

struct tb_capture_packet {
	uint64_t at_ns; // since the epoch
	const unsigned char *bytes;
	uint32_t n_captured;
	uint32_t n_wire;
};

void tb_capture_write_packet(FILE *stream, enum tb_capture_format format,
	const struct tb_capture_packet *packet);

struct tb_capture_counts {
	uint64_t captured;	    // packets written
	uint64_t received;	    // passed the filter
	uint64_t dropped;	    // by the kernel, because its buffer was full
	uint64_t dropped_interface; // by the interface or its driver
};

// tb_capture_write_end ends the file. pcapng stores the counts and the period in which
// they were counted, from from_ns to to_ns since the epoch.
void tb_capture_write_end(FILE *stream, enum tb_capture_format format, uint64_t from_ns,
	uint64_t to_ns, const struct tb_capture_counts *counts);

#endif
