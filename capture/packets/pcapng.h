// Reads pcapng block by block. libpcap reads such files only if all interfaces have the
// same link type and snapshot length, and does not report the interface of a packet.
//
// The reader handles sections in either byte order, each with its own interfaces, and
// enhanced, simple and obsolete packet blocks; it skips other blocks. A simple packet has
// no time stamp and gets that of the packet before it, or the epoch. Format:
// draft-ietf-opsawg-pcapng, sections 3 and 4.
//
// Memory grows with the largest block (at most 16 MiB) and the number of interfaces.
#ifndef TB_PCAPNG_H
#define TB_PCAPNG_H

#include "infile.h"
#include "record.h"

struct tb_pcapng; // opaque

// tb_pcapng_new reads the first block of `stream`, a section header. It borrows the
// stream and the file behind it. Errors as tb_pcapng_next.
int tb_pcapng_new(struct tb_pcapng **pcapng, FILE *stream, const struct tb_infile *file,
	struct tb_error *error) TB_MUST_USE;
void tb_pcapng_free(struct tb_pcapng *pcapng);

// tb_pcapng_next reads the next packet: 1, 0 at the end, or negative. TB_EFORMAT for a
// broken block or one cut off by the end of the file, and the errors of tb_infile_check.
// The error names neither file nor place.
int tb_pcapng_next(struct tb_pcapng *pcapng, struct tb_record *record,
	struct tb_error *error) TB_MUST_USE;

#endif
