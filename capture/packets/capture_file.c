#include "capture_file.h"

#include "frame.h"
#include "infile.h"
#include "pcapng.h"

#include <errno.h>
#include <pcap/pcap.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>

#define STAMP_MAX_S INT64_C(9000000000)

struct tb_capture_file {
	char *name;
	struct tb_infile *input;  // goes with its stream
	FILE *stream;		  // NULL once it is libpcap's
	struct tb_pcapng *pcapng; // NULL for pcap
	pcap_t *pcap;
	int link_type;
	uint64_t n_records;
	struct tb_error failure; // of the pcapng filter; code TB_OK: none
};

// read_pcapng keeps the sentence that errno cannot carry through stdio and libpcap.
static ssize_t read_pcapng(void *cookie, char *buffer, size_t n)
{
	struct tb_capture_file *file = cookie;
	size_t got;
	if (tb_pcapng_read(file->pcapng, buffer, n, &got, &file->failure) == TB_OK)
		return (ssize_t)got;
	errno = EIO;
	return -1;
}

enum kind { NO_CAPTURE, PCAP, PCAPNG };

// The magic numbers of microsecond, nanosecond and patched ("Kuznetzov") pcap in both
// byte orders, and the type of pcapng's first block.
static enum kind kind_of(uint32_t magic)
{
	switch (magic) {
	case 0xa1b2c3d4:
	case 0xd4c3b2a1:
	case 0xa1b23c4d:
	case 0x4d3cb2a1:
	case 0xa1b2cd34:
	case 0x34cdb2a1:
		return PCAP;
	case 0x0a0d0d0a:
		return PCAPNG;
	default:
		return NO_CAPTURE;
	}
}

static int recognise(struct tb_capture_file *file, struct tb_error *error)
{
	struct tb_bytes first;
	uint32_t magic = 0;
	int status = tb_infile_peek(file->input, sizeof magic, &first, error);
	if (status != TB_OK)
		return status;
	if (first.n == 0)
		return tb_fail_in(error, TB_EFOREIGN, file->name,
			"is empty, expected a capture (pcap or pcapng)");
	(void)tb_bytes_u32(first, 0, &magic);
	enum kind kind = kind_of(magic);
	if (kind == NO_CAPTURE)
		return tb_fail_in(error, TB_EFOREIGN, file->name,
			"is no capture: expected pcap or pcapng, plain or compressed");
	if (kind == PCAPNG &&
		tb_pcapng_new(&file->pcapng, file->stream, file->input) != TB_OK)
		return tb_fail_in(error, TB_ENOMEM, file->name, "no memory");
	return TB_OK;
}

// fail_at says what stopped reading at the record after the last whole one: the first
// cause that is known.
static int fail_at(
	struct tb_capture_file *file, const char *found, struct tb_error *error)
{
	struct tb_error cause = {0};
	if (tb_infile_check(file->input, &cause) == TB_OK)
		cause = file->failure;
	if (cause.code != TB_OK)
		return tb_fail_at(error, cause.code, file->name, TB_PLACE_RECORD,
			file->n_records + 1, "%s", cause.text);
	bool cut = strncmp(found, "truncated", 9) == 0;
	return tb_fail_at(error, TB_EFORMAT, file->name, TB_PLACE_RECORD,
		file->n_records + 1, "%s (%s)",
		cut ? "the capture ends in mid-packet" : "the record is broken", found);
}

// stream_for_libpcap is the file itself, or pcapng as the filter gives it.
static FILE *stream_for_libpcap(struct tb_capture_file *file)
{
	FILE *stream = file->stream;
	if (file->pcapng)
		stream = fopencookie(
			file, "rb", (cookie_io_functions_t){.read = read_pcapng});
	// libpcap reads two small pieces a record; without this each takes a lock.
	if (stream)
		__fsetlocking(stream, FSETLOCKING_BYCALLER);
	return stream;
}

static int header_broken(
	const struct tb_capture_file *file, const char *message, struct tb_error *error)
{
	int cause = tb_infile_check(file->input, error);
	if (cause != TB_OK)
		return cause;
	if (file->failure.code != TB_OK)
		message = file->failure.text;
	return tb_fail_in(error, TB_EFORMAT, file->name,
		"the capture's header is broken (%s)", message);
}

static int open_pcap(struct tb_capture_file *file, struct tb_error *error)
{
	char message[PCAP_ERRBUF_SIZE] = "";
	FILE *stream = stream_for_libpcap(file);
	if (!stream)
		return tb_fail_in(error, TB_ENOMEM, file->name, "no memory");
	file->pcap = pcap_fopen_offline_with_tstamp_precision(
		stream, PCAP_TSTAMP_PRECISION_NANO, message);
	if (!file->pcap) {
		if (file->pcapng)
			fclose(stream);
		return header_broken(file, message, error);
	}
	if (!file->pcapng)
		file->stream = NULL;
	file->link_type = pcap_datalink(file->pcap);
	if (file->pcapng || tb_frame_reads_link_type(file->link_type))
		return TB_OK;
	const char *type = pcap_datalink_val_to_name(file->link_type);
	return tb_fail_in(error, TB_EFORMAT, file->name,
		"link type %d (%s) is not read: expected Ethernet, Linux cooked, raw IP, "
		"loopback, InfiniBand or ERF",
		file->link_type, type ? type : "unknown");
}

int tb_capture_file_open(
	struct tb_capture_file **file, const char *path, struct tb_error *error)
{
	struct tb_capture_file *new = calloc(1, sizeof *new);
	if (new)
		new->name = strdup(strcmp(path, "-") == 0 ? "standard input" : path);
	int status = TB_OK;
	if (!new || !new->name)
		status = tb_fail_in(error, TB_ENOMEM, path, "no memory");
	if (status == TB_OK)
		status = tb_infile_open(&new->stream, &new->input, path, error);
	if (status == TB_OK)
		status = recognise(new, error);
	if (status == TB_OK)
		status = open_pcap(new, error);
	if (status != TB_OK) {
		tb_capture_file_free(new);
		return status;
	}
	*file = new;
	return TB_OK;
}

void tb_capture_file_free(struct tb_capture_file *file)
{
	if (!file)
		return;
	if (file->pcap)
		pcap_close(file->pcap); // and the stream that it has
	tb_pcapng_free(file->pcapng);
	if (file->stream)
		fclose(file->stream);
	free(file->name);
	free(file);
}

// A stamp that nanoseconds cannot express is a broken one; it is kept at the end of what
// they can, where the differences of two stamps still do not overflow.
static int64_t stamp_ns(const struct pcap_pkthdr *header)
{
	int64_t seconds = header->ts.tv_sec;
	if (seconds < 0)
		return 0;
	if (seconds >= STAMP_MAX_S)
		return INT64_C(1000000000) * STAMP_MAX_S;
	return seconds * 1000000000 + header->ts.tv_usec;
}

// DLT_ and LINKTYPE_ values differ for a few types of old; of those that are read, only
// in raw IP (and OpenBSD's name for it).
static int link_type_of(uint16_t in_file)
{
	return in_file == 101 ? DLT_RAW : in_file;
}

int tb_capture_file_next(
	struct tb_capture_file *file, struct tb_record *record, struct tb_error *error)
{
	struct pcap_pkthdr *header;
	const u_char *data;
	int code = pcap_next_ex(file->pcap, &header, &data);
	if (code == PCAP_ERROR_BREAK)
		return 0;
	if (code != 1)
		return fail_at(file, pcap_geterr(file->pcap), error);
	record->at_ns = stamp_ns(header);
	record->bytes = (struct tb_bytes){data, header->caplen};
	record->wire_bytes = header->len < header->caplen ? header->caplen : header->len;
	record->link_type = file->link_type;
	record->interface = 0;
	struct tb_pcapng_origin origin;
	if (file->pcapng && tb_pcapng_tag(record->bytes, &origin)) {
		record->bytes = tb_bytes_after(record->bytes, TB_PCAPNG_TAG);
		record->wire_bytes -= TB_PCAPNG_TAG;
		record->link_type = link_type_of(origin.link_type);
		record->interface = origin.interface;
	}
	file->n_records++;
	return 1;
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
