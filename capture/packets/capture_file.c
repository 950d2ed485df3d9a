#include "capture_file.h"

#include "array.h"
#include "frame.h"
#include "heap.h"
#include "infile.h"

#include <inttypes.h>
#include <pcap/dlt.h>
#include <pcap/pcap.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>

// Reads pcapng block by block. libpcap reads such files only if all interfaces have the
// same link type and snapshot length, and does not report the interface of a packet.
//
// The reader handles sections in either byte order, each with its own interfaces, and
// enhanced, simple and obsolete packet blocks; it skips other blocks. A simple packet has
// no time stamp and gets that of the packet before it, or the epoch. Format:
// draft-ietf-opsawg-pcapng, sections 3 and 4.
//
// Memory grows with the largest block (at most 16 MiB) and the number of interfaces.

__extension__ typedef unsigned __int128 wide_ticks;

#define SECTION		 0x0a0d0d0au
#define INTERFACE	 1u
#define PACKET		 2u // obsolete, still found in old files
#define SIMPLE_PACKET	 3u
#define ENHANCED_PACKET	 6u
#define BYTE_ORDER_MAGIC 0x1a2b3c4du

#define HEAD_BYTES	12 // type, length, and the first word of the body or the trailer
#define SECTION_HEAD	24
#define INTERFACE_HEAD	16 // before the options
#define PACKET_HEAD	28 // of enhanced and obsolete packet blocks, before the data
#define SIMPLE_HEAD	12
#define BLOCK_BYTES_MAX (16u * 1024 * 1024) // libpcap's limit

#define OPTION_END	  0
#define OPTION_RESOLUTION 9
#define OPTION_OFFSET	  14
#define OPTION_SPEED	  8

struct interface {
	int link_type;
	uint32_t snapshot_bytes; // 0: no limit
	uint64_t ticks_per_s;
	int64_t offset_s; // added to all stamps
	uint64_t bits_per_s;
};

#define RECORD_HEAD	 16
#define RECORD_BYTES_MAX 262144 // libpcap's limit
#define AHEAD_BYTES	 (size_t)(64 << 10)

struct tb_capture_file {
	char *name;
	struct tb_infile *input; // freed when its stream is closed
	FILE *stream;		 // NULL once libpcap owns it
	pcap_t *pcap;
	int link_type;
	// Records of nearly all pcap files, little-endian ones of version 2.4, are taken
	// from here: libpcap copies them twice, and their heads byte by byte.
	bool is_usual;
	uint32_t ns_per_tick, snapshot_bytes;
	uint8_t *ahead; // read ahead; the next record begins at ahead_at
	size_t ahead_at, ahead_end, ahead_room;
	// Of pcapng.
	bool is_pcapng;
	bool little_endian;
	struct interface *interfaces; // of this section
	uint32_t n_interfaces;
	size_t interfaces_room;
	uint32_t first_interface; // number of interfaces in earlier sections
	int64_t last_ns;	  // stamp of the last packet
	uint8_t *block;
	uint32_t block_bytes;
	size_t block_room;
	uint64_t n_records;
	struct tb_error why; // reading failed, without file and place
};

static uint32_t pcapng_word(const struct tb_capture_file *p, size_t at)
{
	uint32_t value = 0;
	(void)tb_bytes_u32_as(
		(struct tb_bytes){p->block, p->block_room}, at, p->little_endian, &value);
	return value;
}

static uint16_t half_word(const struct tb_capture_file *p, size_t at)
{
	uint16_t value = 0;
	(void)tb_bytes_u16_as(
		(struct tb_bytes){p->block, p->block_room}, at, p->little_endian, &value);
	return value;
}

// read_up_to extends the block from `have` bytes to `n`: 1, 0 when the file has ended
// before the block, or negative.
static int read_up_to(struct tb_capture_file *p, size_t have, size_t n)
{
	int status = TB_ARRAY_RESERVE(&p->block, &p->block_room, n) == TB_OK
			     ? TB_OK
			     : tb_fail_memory(&p->why, "the capture");
	if (status != TB_OK)
		return status;
	size_t got = fread(p->block + have, 1, n - have, p->stream);
	if (got == n - have)
		return 1;
	status = tb_infile_check(p->input, &p->why);
	if (status != TB_OK || have + got == 0)
		return status;
	return tb_fail(&p->why, TB_EFORMAT, "the capture ends in mid-block");
}

static int begin_pcapng_section(struct tb_capture_file *p)
{
	uint32_t magic;
	(void)tb_bytes_u32((struct tb_bytes){p->block, HEAD_BYTES}, 8, &magic);
	if (magic != BYTE_ORDER_MAGIC && magic != __builtin_bswap32(BYTE_ORDER_MAGIC))
		return tb_fail(&p->why, TB_EFORMAT,
			"a pcapng section has no valid byte order (0x%08x, expected "
			"0x%08x)",
			magic, BYTE_ORDER_MAGIC);
	p->little_endian = magic != BYTE_ORDER_MAGIC;
	// Each section numbers its interfaces from 0.
	p->first_interface += p->n_interfaces;
	p->n_interfaces = 0;
	return TB_OK;
}

static int too_short(struct tb_capture_file *p, const char *what)
{
	return tb_fail(
		&p->why, TB_EFORMAT, "a pcapng %s is too short for what it holds", what);
}

static int check_pcapng_version(struct tb_capture_file *p)
{
	if (p->block_bytes < SECTION_HEAD + 4)
		return too_short(p, "section");
	// Some tools wrote version 1.2 by mistake; it is the same as 1.0.
	uint16_t major = half_word(p, 12), minor = half_word(p, 14);
	if (major == 1 && (minor == 0 || minor == 2))
		return TB_OK;
	return tb_fail(&p->why, TB_EFORMAT,
		"a pcapng section of version %u.%u is not read", major, minor);
}

// next_block reads a whole block: 1, 0 at the end, or negative.
static int next_block(struct tb_capture_file *p, uint32_t *type)
{
	int status = read_up_to(p, 0, HEAD_BYTES);
	if (status <= 0)
		return status;
	*type = pcapng_word(p, 0); // a section's type is the same in both byte orders
	if (*type == SECTION && (status = begin_pcapng_section(p)) != TB_OK)
		return status;
	uint32_t length = pcapng_word(p, 4);
	if (length < HEAD_BYTES || length % 4 != 0 || length > BLOCK_BYTES_MAX)
		return tb_fail(&p->why, TB_EFORMAT,
			"a pcapng block has a length of %u bytes: expected 12 to %u, a "
			"multiple of 4",
			length, BLOCK_BYTES_MAX);
	status = read_up_to(p, HEAD_BYTES, length);
	if (status <= 0)
		return status;
	if (pcapng_word(p, length - 4) != length)
		return tb_fail(&p->why, TB_EFORMAT,
			"a pcapng block of %u bytes has a length of %u at its end",
			length, pcapng_word(p, length - 4));
	p->block_bytes = length;
	return 1;
}

// set_resolution decodes the option's byte: the negative power of 10, or of 2 if the
// highest bit is set.
static int set_resolution(
	struct tb_capture_file *p, struct interface *interface, uint8_t value)
{
	unsigned power = value & 0x7f;
	bool binary = value & 0x80;
	if (power > (binary ? 63 : 19))
		return tb_fail(&p->why, TB_EFORMAT,
			"the time resolution of a pcapng interface is %u to the -%u: "
			"expected at most %u",
			binary ? 2 : 10, power, binary ? 63 : 19);
	interface->ticks_per_s = 1;
	for (; power > 0; power--)
		interface->ticks_per_s *= binary ? 2 : 10;
	return TB_OK;
}

static int read_option(struct tb_capture_file *p, struct interface *interface,
	uint16_t code, size_t at, uint16_t n)
{
	if (code == OPTION_RESOLUTION)
		return n == 1 ? set_resolution(p, interface, p->block[at])
			      : too_short(p, "interface");
	if (code != OPTION_OFFSET && code != OPTION_SPEED)
		return TB_OK;
	if (n != 8)
		return too_short(p, "interface");
	uint64_t first = pcapng_word(p, at), second = pcapng_word(p, at + 4);
	uint64_t value = p->little_endian ? second << 32 | first : first << 32 | second;
	if (code == OPTION_SPEED)
		interface->bits_per_s = value;
	else
		interface->offset_s = (int64_t)value;
	return TB_OK;
}

// Files hold LINKTYPE_ values. A few old types have another DLT_ value; of those that
// Tailback decodes, only raw IP.
static int link_type_of(uint16_t in_file)
{
	return in_file == 101 ? DLT_RAW : in_file;
}

static int add_interface(struct tb_capture_file *p)
{
	if (p->block_bytes < INTERFACE_HEAD + 4)
		return too_short(p, "interface");
	if (TB_ARRAY_RESERVE(&p->interfaces, &p->interfaces_room,
		    (size_t)p->n_interfaces + 1) != TB_OK)
		return tb_fail_memory(&p->why, "the capture");
	struct interface *interface = &p->interfaces[p->n_interfaces++];
	*interface = (struct interface){.link_type = link_type_of(half_word(p, 8)),
		.snapshot_bytes = pcapng_word(p, 12),
		.ticks_per_s = 1000000};
	size_t end = p->block_bytes - 4;
	for (size_t at = INTERFACE_HEAD; at < end;) {
		uint16_t code = half_word(p, at), n = half_word(p, at + 2);
		if (code == OPTION_END)
			break;
		at += 4;
		if (n > end - at)
			return too_short(p, "interface");
		int status = read_option(p, interface, code, at, n);
		if (status != TB_OK)
			return status;
		at += (n + 3u) & ~3u;
	}
	return TB_OK;
}

static int stamp_block(struct tb_capture_file *p, const struct interface *interface,
	uint64_t ticks, int64_t *at_ns)
{
	// A second may have up to 10^19 ticks, so the part of a second needs 128 bits.
	uint64_t seconds = ticks / interface->ticks_per_s;
	wide_ticks part = (wide_ticks)(ticks % interface->ticks_per_s) * 1000000000;
	int64_t at_s;
	if (__builtin_add_overflow(interface->offset_s, seconds, &at_s))
		at_s = TB_RECORD_AT_MAX_S;
	if (at_s < 0)
		return tb_fail(&p->why, TB_EFORMAT,
			"a packet is dated before 1970: expected a date since then");
	*at_ns = tb_record_at_ns(at_s, (uint64_t)(part / interface->ticks_per_s));
	return TB_OK;
}

// give_packet fills the record from the block; the packet's data begins at `head`.
static int give_packet(struct tb_capture_file *p, uint32_t head, uint32_t number,
	struct tb_record *record)
{
	bool simple = head == SIMPLE_HEAD;
	if (number >= p->n_interfaces)
		return tb_fail(&p->why, TB_EFORMAT,
			"a packet names interface %u, but its section has %u", number,
			p->n_interfaces);
	const struct interface *interface = &p->interfaces[number];
	uint32_t wire = pcapng_word(p, simple ? 8 : 24);
	uint32_t captured = simple ? wire : pcapng_word(p, 20);
	if (simple && interface->snapshot_bytes > 0 &&
		captured > interface->snapshot_bytes)
		captured = interface->snapshot_bytes;
	if (captured > p->block_bytes - head - 4)
		return tb_fail(&p->why, TB_EFORMAT,
			"%u captured bytes do not fit into a pcapng block of %u",
			captured, p->block_bytes);
	uint64_t ticks = (uint64_t)pcapng_word(p, 12) << 32 | pcapng_word(p, 16);
	int64_t at_ns = p->last_ns;
	int status = simple ? TB_OK : stamp_block(p, interface, ticks, &at_ns);
	if (status != TB_OK)
		return status;
	p->last_ns = at_ns;
	*record = (struct tb_record){
		.at_ns = at_ns,
		.untimed = simple,
		.bytes = {p->block + head, captured},
		// A wrong length must not be below what was captured.
		.wire_bytes = wire < captured ? captured : wire,
		.link_type = interface->link_type,
		.bits_per_s = interface->bits_per_s,
		.interface = p->first_interface + number,
	};
	return 1;
}

// take_block returns 1 if the block is a packet, 0 if it is another kind, or negative.
static int take_block(struct tb_capture_file *p, uint32_t type, struct tb_record *record)
{
	switch (type) {
	case SECTION:
		return check_pcapng_version(p);
	case INTERFACE:
		return add_interface(p);
	case PACKET:
	case ENHANCED_PACKET:
		if (p->block_bytes < PACKET_HEAD + 4)
			return too_short(p, "packet");
		return give_packet(p, PACKET_HEAD,
			type == PACKET ? half_word(p, 8) : pcapng_word(p, 8), record);
	case SIMPLE_PACKET:
		if (p->block_bytes < SIMPLE_HEAD + 4)
			return too_short(p, "packet");
		return give_packet(p, SIMPLE_HEAD, 0, record);
	default:
		return 0;
	}
}

// pcapng_next reads the next packet: 1, 0 at the end, or negative. TB_EFORMAT for a
// broken block or one cut off by the end of the file, and the errors of tb_infile_check.
// The error names neither file nor place.
static int pcapng_next(struct tb_capture_file *p, struct tb_record *record)
{
	uint32_t type;
	int status;
	do {
		status = next_block(p, &type);
		if (status <= 0)
			return status;
		status = take_block(p, type, record);
	} while (status == 0);
	return status;
}

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

// open_pcapng reads the first block, a section header.
static int open_pcapng(struct tb_capture_file *file, struct tb_error *error)
{
	uint32_t type;
	file->is_pcapng = true;
	int status = next_block(file, &type);
	if (status == 1)
		status = check_pcapng_version(file);
	if (status == TB_EFORMAT)
		return header_broken(file, file->why.text, error);
	if (status != TB_OK && error)
		*error = file->why;
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
	int status = !new || !new->name ? tb_fail_memory_in(error, path, "it") : TB_OK;
	if (status == TB_OK && opened && opened->stream) {
		new->stream = opened->stream;
		new->input = opened->file;
		*opened = (struct tb_opened_input){NULL, NULL};
	} else if (status == TB_OK) {
		status = tb_infile_open(&new->stream, &new->input, path, error);
	}
	TB_THEN(status, open_stream(new, error));
	if (status == TB_OK)
		*file = new;
	else
		tb_capture_file_free(new);
	return status;
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
	if (file->stream)
		fclose(file->stream);
	free(file->interfaces);
	free(file->block);
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

static int fill_record(struct tb_capture_file *file, struct tb_record *record,
	uint32_t seconds, uint64_t ns)
{
	if (ns >= 1000000000)
		return tb_fail(&file->why, TB_EFORMAT,
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
static int fail_cut(struct tb_capture_file *file, const char *what, size_t n, size_t got)
{
	return tb_fail(&file->why, TB_EFORMAT,
		"the capture ends in mid-packet (truncated dump file; tried to read %zu "
		"%s bytes, only got %zu)",
		n, what, got);
}

static int next_of_usual(struct tb_capture_file *file, struct tb_record *record)
{
	uint32_t seconds = 0, ticks = 0, n = 0, wire_bytes = 0;
	int code = have_ahead(file, RECORD_HEAD);
	if (code < 0)
		return tb_fail_memory(&file->why, "the capture");
	size_t left = file->ahead_end - file->ahead_at;
	if (code == 0 && left == 0 && tb_infile_check(file->input, NULL) == TB_OK)
		return 0;
	if (code == 0)
		return fail_cut(file, "header", RECORD_HEAD, left);
	struct tb_bytes head = {file->ahead + file->ahead_at, RECORD_HEAD};
	(void)tb_bytes_u32_as(head, 0, true, &seconds);
	(void)tb_bytes_u32_as(head, 4, true, &ticks);
	(void)tb_bytes_u32_as(head, 8, true, &n);
	(void)tb_bytes_u32_as(head, 12, true, &wire_bytes);
	if (n > RECORD_BYTES_MAX)
		return tb_fail(&file->why, TB_EFORMAT,
			"the record is broken (invalid packet capture length %" PRIu32
			", bigger than maximum of %d)",
			n, RECORD_BYTES_MAX);
	code = have_ahead(file, RECORD_HEAD + n);
	if (code < 0)
		return tb_fail_memory(&file->why, "the capture");
	if (code == 0)
		return fail_cut(file, "captured", n,
			file->ahead_end - file->ahead_at - RECORD_HEAD);
	const uint8_t *data = file->ahead + file->ahead_at + RECORD_HEAD;
	file->ahead_at += RECORD_HEAD + n;
	// Beyond what the header of the file says, libpcap drops.
	if (n > file->snapshot_bytes)
		n = file->snapshot_bytes;
	record->bytes = (struct tb_bytes){data, n};
	record->wire_bytes = wire_bytes < n ? n : wire_bytes;
	return fill_record(file, record, seconds, (uint64_t)ticks * file->ns_per_tick);
}

static int next_of_pcap(struct tb_capture_file *file, struct tb_record *record)
{
	struct pcap_pkthdr *header;
	const u_char *data;
	int code = pcap_next_ex(file->pcap, &header, &data);
	if (code == PCAP_ERROR_BREAK)
		return 0;
	if (code != 1) {
		const char *found = pcap_geterr(file->pcap);
		bool cut = strncmp(found, "truncated", 9) == 0;
		return tb_fail(&file->why, TB_EFORMAT, "%s (%s)",
			cut ? "the capture ends in mid-packet" : "the record is broken",
			found);
	}
	record->bytes = (struct tb_bytes){data, header->caplen};
	record->wire_bytes = header->len < header->caplen ? header->caplen : header->len;
	// The file's seconds are unsigned, which libpcap reads as signed: after 2038. A
	// negative part of a second becomes one that is too large.
	return fill_record(
		file, record, (uint32_t)header->ts.tv_sec, (uint64_t)header->ts.tv_usec);
}

int tb_capture_file_next(
	struct tb_capture_file *file, struct tb_record *record, struct tb_error *error)
{
	int status = file->is_usual    ? next_of_usual(file, record)
		     : file->is_pcapng ? pcapng_next(file, record)
				       : next_of_pcap(file, record);
	if (status < 0) {
		// Report what stopped the reader, at the record after the last whole one.
		// If the input itself failed (damaged compression, a read error), that is
		// the cause.
		struct tb_error cause;
		if (tb_infile_check(file->input, &cause) == TB_OK)
			cause = file->why;
		return tb_fail_at(error, cause.code, file->name, TB_PLACE_RECORD,
			file->n_records + 1, "%s", cause.text);
	}
	file->n_records += status == 1;
	return status;
}

bool tb_capture_file_many_points(const struct tb_capture_file *file)
{
	return file->is_pcapng || file->link_type == DLT_LINUX_SLL ||
	       file->link_type == DLT_LINUX_SLL2;
}

double tb_capture_file_fraction(const struct tb_capture_file *file)
{
	return tb_infile_fraction(file->input);
}

// Several files.

struct input {
	struct tb_capture_file *file;
	struct tb_record next;
};

// An input that has a next record.
struct input_due {
	int64_t at_ns;
	size_t input;
};

struct tb_inputs {
	struct input *inputs;
	size_t n;
	struct input_due *heap; // the earliest first
	size_t n_heap;
	bool begun;
	bool taken; // the first one's record was returned, so read its next one
	struct tb_error failure; // the first one
};

int tb_inputs_open(struct tb_inputs **inputs, const char *const *paths, size_t n,
	struct tb_opened_input *opened, struct tb_error *error)
{
	struct tb_inputs *new = calloc(1, sizeof *new);
	int status = TB_OK;
	if (new) {
		new->inputs = calloc(n, sizeof *new->inputs);
		new->heap = calloc(n, sizeof *new->heap);
	}
	if (!new || !new->inputs || !new->heap)
		status = tb_fail_memory(error, "the capture");
	while (status == TB_OK && new->n < n) {
		status = tb_capture_file_open(&new->inputs[new->n].file, paths[new->n],
			new->n ? NULL : opened, error);
		if (status == TB_OK)
			new->n++;
	}
	if (status == TB_OK)
		*inputs = new;
	else
		tb_inputs_free(new);
	return status;
}

void tb_inputs_stop_on(struct tb_inputs *inputs, const volatile sig_atomic_t *stop)
{
	for (size_t i = 0; i < inputs->n; i++)
		tb_capture_file_stop_on(inputs->inputs[i].file, stop);
}

void tb_inputs_free(struct tb_inputs *inputs)
{
	if (!inputs)
		return;
	for (size_t i = 0; i < inputs->n; i++)
		tb_capture_file_free(inputs->inputs[i].file);
	free(inputs->inputs);
	free(inputs->heap);
	free(inputs);
}

// read_on reads the input's next record and returns whether there is one. It keeps a
// failure for the end.
static bool read_on(struct tb_inputs *inputs, size_t i)
{
	struct tb_error failure;
	int status = tb_capture_file_next(
		inputs->inputs[i].file, &inputs->inputs[i].next, &failure);
	if (status < 0 && inputs->failure.code == TB_OK)
		inputs->failure = failure;
	return status == 1;
}

static bool input_is_earlier(const struct input_due *a, const struct input_due *b)
{
	return a->at_ns != b->at_ns ? a->at_ns < b->at_ns : a->input < b->input;
}

TB_HEAP(due, struct input_due, input_is_earlier)

static struct input_due due_of(const struct tb_inputs *inputs, size_t i)
{
	return (struct input_due){inputs->inputs[i].next.at_ns, i};
}

int tb_inputs_next(struct tb_inputs *inputs, const struct tb_record **record,
	size_t *input, struct tb_error *error)
{
	if (!inputs->begun) {
		inputs->begun = true;
		for (size_t i = 0; i < inputs->n; i++)
			if (read_on(inputs, i))
				due_put(inputs->heap, inputs->n_heap++,
					due_of(inputs, i));
	} else if (inputs->taken) {
		// Only now read on: the record that was returned lives in its input until
		// this call.
		size_t i = inputs->heap[0].input;
		if (read_on(inputs, i)) {
			// The last input that is left needs no order.
			if (inputs->n_heap > 1)
				due_replace(
					inputs->heap, inputs->n_heap, due_of(inputs, i));
		} else {
			due_take(inputs->heap, inputs->n_heap--);
		}
	}
	inputs->taken = inputs->n_heap > 0;
	if (inputs->taken) {
		*input = inputs->heap[0].input;
		*record = &inputs->inputs[*input].next;
		return 1;
	}
	if (inputs->failure.code == TB_OK)
		return 0;
	if (error)
		*error = inputs->failure;
	return inputs->failure.code;
}

bool tb_inputs_many_points(const struct tb_inputs *inputs)
{
	return inputs->n > 1 || tb_capture_file_many_points(inputs->inputs[0].file);
}

double tb_inputs_fraction(const struct tb_inputs *inputs)
{
	double sum = 0;
	for (size_t i = 0; i < inputs->n; i++) {
		double fraction = tb_capture_file_fraction(inputs->inputs[i].file);
		if (fraction < 0)
			return -1;
		sum += fraction;
	}
	return sum / (double)inputs->n;
}
