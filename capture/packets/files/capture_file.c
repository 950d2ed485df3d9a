#include "capture_file.h"

#include "frame.h"
#include "infile.h"
#include "pcapng.h"

#include <pcap/pcap.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>

struct tb_capture_file {
	char *name;
	struct tb_infile *input;  // freed when its stream is closed
	FILE *stream;		  // NULL once libpcap owns it
	struct tb_pcapng *pcapng; // NULL for pcap
	pcap_t *pcap;
	int link_type;
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

static int open_pcap(struct tb_capture_file *file, struct tb_error *error)
{
	char message[PCAP_ERRBUF_SIZE] = "";
	file->pcap = pcap_fopen_offline_with_tstamp_precision(
		file->stream, PCAP_TSTAMP_PRECISION_NANO, message);
	if (!file->pcap)
		return header_broken(file, message, error);
	file->stream = NULL;
	file->link_type = pcap_datalink(file->pcap);
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
	// Every record takes two small reads; without this each would take a lock.
	__fsetlocking(file->stream, FSETLOCKING_BYCALLER);
	return kind == TB_CAPTURE_KIND_PCAPNG ? open_pcapng(file, error)
					      : open_pcap(file, error);
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
	free(file->name);
	free(file);
}

// fail_at reports what stopped the reader, at the record after the last whole one. If the
// input itself failed (damaged compression, a read error), that is the cause.
static int fail_at(const struct tb_capture_file *file, const struct tb_error *found,
	struct tb_error *error)
{
	struct tb_error cause;
	if (tb_infile_check(file->input, &cause) == TB_OK)
		cause = *found;
	return tb_fail_at(error, cause.code, file->name, TB_PLACE_RECORD,
		file->n_records + 1, "%s", cause.text);
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
	// The file's seconds are unsigned, which libpcap reads as signed: after 2038.
	uint32_t seconds = (uint32_t)header->ts.tv_sec;
	uint64_t ns = (uint64_t)header->ts.tv_usec;
	if (header->ts.tv_usec < 0 || ns >= 1000000000)
		return tb_fail(error, TB_EFORMAT,
			"the record is broken (its part of a second is a second or "
			"more)");
	record->at_ns = tb_record_at_ns(seconds, ns);
	record->bytes = (struct tb_bytes){data, header->caplen};
	record->wire_bytes = header->len < header->caplen ? header->caplen : header->len;
	record->link_type = file->link_type;
	record->interface = 0;
	record->untimed = false;
	record->bits_per_s = 0;
	return 1;
}

int tb_capture_file_next(
	struct tb_capture_file *file, struct tb_record *record, struct tb_error *error)
{
	struct tb_error found;
	int status = file->pcapng ? tb_pcapng_next(file->pcapng, record, &found)
				  : next_of_pcap(file, record, &found);
	if (status < 0)
		return fail_at(file, &found, error);
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
