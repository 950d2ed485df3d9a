#include "capture_file.h"

#include "array.h"
#include "frame.h"
#include "infile.h"
#include "pcapng.h"

#include <inttypes.h>
#include <pcap/pcap.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>

#define RECORD_HEAD	 16
#define RECORD_BYTES_MAX 262144 // libpcap's limit
#define AHEAD_BYTES	 (size_t)(64 << 10)

struct tb_capture_file {
	char *name;
	struct tb_infile *input;  // freed when its stream is closed
	FILE *stream;		  // NULL once libpcap owns it
	struct tb_pcapng *pcapng; // NULL for pcap
	pcap_t *pcap;
	int link_type;
	// Records of nearly all pcap files, little-endian ones of version 2.4, are taken
	// from here: libpcap copies them twice, and their heads byte by byte.
	bool is_usual;
	uint32_t ns_per_tick, snapshot_bytes;
	uint8_t *ahead; // read ahead; the next record begins at ahead_at
	size_t ahead_at, ahead_end, ahead_room;
	uint64_t n_records;
};

// The magic numbers of pcap with microseconds, with nanoseconds and as patched by
// Kuznetzov, in both byte orders, and the type of pcapng's first block.
enum tb_capture_kind tb_capture_kind(struct tb_bytes first)
{
	uint32_t magic = 0;
	(void)tb_bytes_u32(first, 0, &magic);
	switch (magic) {
	case 0xa1b2c3d4:
	case 0xd4c3b2a1:
	case 0xa1b23c4d:
	case 0x4d3cb2a1:
	case 0xa1b2cd34:
	case 0x34cdb2a1:
		return TB_CAPTURE_KIND_PCAP;
	case 0x0a0d0d0a:
		return TB_CAPTURE_KIND_PCAPNG;
	default:
		return TB_CAPTURE_NONE;
	}
}

static int recognise(
	struct tb_capture_file *file, enum tb_capture_kind *kind, struct tb_error *error)
{
	struct tb_bytes first;
	int status = tb_infile_peek(file->input, 4, &first, error);
	if (status != TB_OK)
		return status;
	if (first.n == 0)
		return tb_fail_in(error, TB_EFOREIGN, file->name,
			"is empty, expected a capture (pcap or pcapng)");
	*kind = tb_capture_kind(first);
	if (*kind != TB_CAPTURE_NONE)
		return TB_OK;
	return tb_fail_in(error, TB_EFOREIGN, file->name,
		"is no capture: expected pcap or pcapng, plain or compressed");
}

static int header_broken(
	const struct tb_capture_file *file, const char *message, struct tb_error *error)
{
	int cause = tb_infile_check(file->input, error);
	if (cause != TB_OK)
		return cause;
	return tb_fail_in(error, TB_EFORMAT, file->name,
		"the capture's header is broken (%s)", message);
}

static int open_pcapng(struct tb_capture_file *file, struct tb_error *error)
{
	struct tb_error cause = {0};
	int status = tb_pcapng_new(&file->pcapng, file->stream, file->input, &cause);
	if (status == TB_EFORMAT)
		return header_broken(file, cause.text, error);
	if (status != TB_OK && error)
		*error = cause;
	return status;
}

static int open_with_libpcap(struct tb_capture_file *file, struct tb_error *error)
{
	char message[PCAP_ERRBUF_SIZE] = "";
	file->pcap = pcap_fopen_offline_with_tstamp_precision(
		file->stream, PCAP_TSTAMP_PRECISION_NANO, message);
	if (!file->pcap)
		return header_broken(file, message, error);
	file->stream = NULL;
	file->link_type = pcap_datalink(file->pcap);
	file->snapshot_bytes = (uint32_t)pcap_snapshot(file->pcap);
	if (tb_frame_reads_link_type(file->link_type))
		return TB_OK;
	char type[TB_FRAME_TYPE_TEXT_SIZE];
	return tb_fail_in(error, TB_EFORMAT, file->name,
		"%s is not read: expected Ethernet, 802.11, Linux cooked, NFLOG, raw IP, "
		"loopback, InfiniBand, IPoIB, PPP, HDLC, frame relay, SLIP, SunATM, DSA, "
		"PPI, PKTAP, Juniper Ethernet or ERF",
		tb_frame_type_format((struct tb_frame_type){(uint16_t)file->link_type,
					     TB_REGISTRY_LINK},
			type, sizeof type));
}

static int open_stream(struct tb_capture_file *file, struct tb_error *error)
{
	enum tb_capture_kind kind = TB_CAPTURE_NONE;
	int status = recognise(file, &kind, error);
	if (status != TB_OK)
		return status;
	struct tb_bytes first = {NULL, 0};
	uint32_t magic = 0, version = 0;
	status = tb_infile_peek(file->input, 8, &first, error);
	if (status != TB_OK)
		return status;
	(void)tb_bytes_u32(first, 0, &magic);
	(void)tb_bytes_u32(first, 4, &version);
	file->ns_per_tick = magic == 0xd4c3b2a1 ? 1000 : 1;
	file->is_usual =
		(magic == 0xd4c3b2a1 || magic == 0x4d3cb2a1) && version == 0x02000400;
	// libpcap is to read no further than the header.
	if (file->is_usual)
		setvbuf(file->stream, NULL, _IONBF, 0);
	// Every record takes two small reads; without this each would take a lock.
	__fsetlocking(file->stream, FSETLOCKING_BYCALLER);
	return kind == TB_CAPTURE_KIND_PCAPNG ? open_pcapng(file, error)
					      : open_with_libpcap(file, error);
}

int tb_capture_file_open(struct tb_capture_file **file, const char *path,
	struct tb_opened_input *opened, struct tb_error *error)
{
	struct tb_capture_file *new = calloc(1, sizeof *new);
	if (new)
		new->name = strdup(strcmp(path, "-") == 0 ? "standard input" : path);
	int status = TB_OK;
	if (!new || !new->name)
		status = tb_fail_memory_in(error, path, "it");
	if (status == TB_OK && opened && opened->stream) {
		new->stream = opened->stream;
		new->input = opened->file;
		*opened = (struct tb_opened_input){NULL, NULL};
	} else if (status == TB_OK) {
		status = tb_infile_open(&new->stream, &new->input, path, error);
	}
	if (status == TB_OK)
		status = open_stream(new, error);
	if (status != TB_OK) {
		tb_capture_file_free(new);
		return status;
	}
	*file = new;
	return TB_OK;
}

void tb_capture_file_stop_on(
	struct tb_capture_file *file, const volatile sig_atomic_t *stop)
{
	tb_infile_stop_on(file->input, stop);
}

void tb_capture_file_free(struct tb_capture_file *file)
{
	if (!file)
		return;
	if (file->pcap)
		pcap_close(file->pcap); // also closes its stream
	tb_pcapng_free(file->pcapng);
	if (file->stream)
		fclose(file->stream);
	free(file->ahead);
	free(file->name);
	free(file);
}

// read_ahead reads until `n` bytes from ahead_at on are there, or no more come: 1, 0, or
// TB_ENOMEM.
static int read_ahead(struct tb_capture_file *file, size_t n)
{
	size_t room = n > AHEAD_BYTES ? n : AHEAD_BYTES;
	if (TB_ARRAY_RESERVE(&file->ahead, &file->ahead_room, room) != TB_OK)
		return TB_ENOMEM;
	file->ahead_end -= file->ahead_at;
	memmove(file->ahead, file->ahead + file->ahead_at, file->ahead_end);
	file->ahead_at = 0;
	while (file->ahead_end < n) {
		ssize_t got = tb_infile_read(file->input, file->ahead + file->ahead_end,
			room - file->ahead_end);
		if (got <= 0)
			return 0;
		file->ahead_end += (size_t)got;
	}
	return 1;
}

static inline int have_ahead(struct tb_capture_file *file, size_t n)
{
	return file->ahead_end - file->ahead_at >= n ? 1 : read_ahead(file, n);
}

static int fill_record(const struct tb_capture_file *file, struct tb_record *record,
	uint32_t seconds, uint64_t ns, struct tb_error *error)
{
	if (ns >= 1000000000)
		return tb_fail(error, TB_EFORMAT,
			"the record is broken (its part of a second is a second or "
			"more)");
	record->at_ns = tb_record_at_ns(seconds, ns);
	record->link_type = file->link_type;
	record->interface = 0;
	record->untimed = false;
	record->bits_per_s = 0;
	return 1;
}

// fail_cut reports the end of a file within a record, in libpcap's words.
static int fail_cut(const char *what, size_t n, size_t got, struct tb_error *error)
{
	return tb_fail(error, TB_EFORMAT,
		"the capture ends in mid-packet (truncated dump file; tried to read %zu "
		"%s bytes, only got %zu)",
		n, what, got);
}

static int next_of_usual(
	struct tb_capture_file *file, struct tb_record *record, struct tb_error *error)
{
	uint32_t seconds = 0, ticks = 0, n = 0, wire_bytes = 0;
	int code = have_ahead(file, RECORD_HEAD);
	if (code < 0)
		return tb_fail_memory(error, "the capture");
	size_t left = file->ahead_end - file->ahead_at;
	if (code == 0 && left == 0 && tb_infile_check(file->input, NULL) == TB_OK)
		return 0;
	if (code == 0)
		return fail_cut("header", RECORD_HEAD, left, error);
	struct tb_bytes head = {file->ahead + file->ahead_at, RECORD_HEAD};
	(void)tb_bytes_u32_as(head, 0, true, &seconds);
	(void)tb_bytes_u32_as(head, 4, true, &ticks);
	(void)tb_bytes_u32_as(head, 8, true, &n);
	(void)tb_bytes_u32_as(head, 12, true, &wire_bytes);
	if (n > RECORD_BYTES_MAX)
		return tb_fail(error, TB_EFORMAT,
			"the record is broken (invalid packet capture length %" PRIu32
			", bigger than maximum of %d)",
			n, RECORD_BYTES_MAX);
	code = have_ahead(file, RECORD_HEAD + n);
	if (code < 0)
		return tb_fail_memory(error, "the capture");
	if (code == 0)
		return fail_cut("captured", n,
			file->ahead_end - file->ahead_at - RECORD_HEAD, error);
	const uint8_t *data = file->ahead + file->ahead_at + RECORD_HEAD;
	file->ahead_at += RECORD_HEAD + n;
	// Beyond what the header of the file says, libpcap drops.
	if (n > file->snapshot_bytes)
		n = file->snapshot_bytes;
	record->bytes = (struct tb_bytes){data, n};
	record->wire_bytes = wire_bytes < n ? n : wire_bytes;
	return fill_record(
		file, record, seconds, (uint64_t)ticks * file->ns_per_tick, error);
}

static int next_of_pcap(
	struct tb_capture_file *file, struct tb_record *record, struct tb_error *error)
{
	struct pcap_pkthdr *header;
	const u_char *data;
	int code = pcap_next_ex(file->pcap, &header, &data);
	if (code == PCAP_ERROR_BREAK)
		return 0;
	if (code != 1) {
		const char *found = pcap_geterr(file->pcap);
		bool cut = strncmp(found, "truncated", 9) == 0;
		return tb_fail(error, TB_EFORMAT, "%s (%s)",
			cut ? "the capture ends in mid-packet" : "the record is broken",
			found);
	}
	record->bytes = (struct tb_bytes){data, header->caplen};
	record->wire_bytes = header->len < header->caplen ? header->caplen : header->len;
	// The file's seconds are unsigned, which libpcap reads as signed: after 2038. A
	// negative part of a second becomes one that is too large.
	return fill_record(file, record, (uint32_t)header->ts.tv_sec,
		(uint64_t)header->ts.tv_usec, error);
}

int tb_capture_file_next(
	struct tb_capture_file *file, struct tb_record *record, struct tb_error *error)
{
	struct tb_error found;
	int status = file->is_usual ? next_of_usual(file, record, &found)
		     : file->pcapng ? tb_pcapng_next(file->pcapng, record, &found)
				    : next_of_pcap(file, record, &found);
	if (status < 0) {
		// Report what stopped the reader, at the record after the last whole one.
		// If the input itself failed (damaged compression, a read error), that is
		// the cause.
		struct tb_error cause;
		if (tb_infile_check(file->input, &cause) == TB_OK)
			cause = found;
		return tb_fail_at(error, cause.code, file->name, TB_PLACE_RECORD,
			file->n_records + 1, "%s", cause.text);
	}
	file->n_records += status == 1;
	return status;
}

bool tb_capture_file_many_points(const struct tb_capture_file *file)
{
	return file->pcapng || file->link_type == DLT_LINUX_SLL ||
	       file->link_type == DLT_LINUX_SLL2;
}

double tb_capture_file_fraction(const struct tb_capture_file *file)
{
	return tb_infile_fraction(file->input);
}
