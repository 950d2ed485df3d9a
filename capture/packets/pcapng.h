// A reader of pcapng, block by block. libpcap reads such files only where all interfaces
// have one link type and one snapshot length, and does not report by which interface a
// packet came.
//
// Read are the sections in either byte order, each with its own interfaces, and their
// packets in enhanced, simple and obsolete packet blocks; other blocks are skipped. A
// simple packet has no time: it is at the epoch. Formats: draft-ietf-opsawg-pcapng,
// sections 3 and 4.
//
// Memory grows with the largest block (16 MiB at the most) and the number of interfaces.
#ifndef TB_PCAPNG_H
#define TB_PCAPNG_H

#include "infile.h"
#include "record.h"

struct tb_pcapng; // opaque

// tb_pcapng_new reads the first block of `stream`, which is a section header. It borrows
// the stream and the file that this belongs to. Errors of the first block as of
// tb_pcapng_next.
int tb_pcapng_new(struct tb_pcapng **pcapng, FILE *stream, const struct tb_infile *file,
	struct tb_error *error) TB_MUST_USE;
void tb_pcapng_free(struct tb_pcapng *pcapng);

// tb_pcapng_next gives the next packet: 1, 0 at the end, or negative. TB_EFORMAT for a
// block that cannot be, or is cut off by the end of the file; and what tb_infile_check
// reports. The error names neither file nor place.
int tb_pcapng_next(struct tb_pcapng *pcapng, struct tb_record *record,
	struct tb_error *error) TB_MUST_USE;

#endif
