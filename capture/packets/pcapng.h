// A filter between a pcapng file and libpcap, which reads such files only where all
// interfaces have one link type and one snapshot length, and does not tell by which
// interface a packet came.
//
// Every interface is given to libpcap as one of link type USER0 without a limit, and
// every packet carries TB_PCAPNG_TAG bytes in front that say what its interface really
// is. All else (sections, byte orders, time resolutions, options, damage) stays libpcap's
// to judge. Formats: draft-ietf-opsawg-pcapng, sections 3 and 4.
//
// Memory grows with the largest block (16 MiB at the most) and the number of interfaces.
#ifndef TB_PCAPNG_H
#define TB_PCAPNG_H

#include "bytes.h"
#include "infile.h"

#define TB_PCAPNG_TAG 8

struct tb_pcapng; // opaque

// tb_pcapng_new borrows `stream`, which stands at the first block, and the input that it
// belongs to.
int tb_pcapng_new(struct tb_pcapng **pcapng, FILE *stream,
	const struct tb_infile *input) TB_MUST_USE;
void tb_pcapng_free(struct tb_pcapng *pcapng);

// tb_pcapng_read stores up to `n` bytes of the filtered file and how many those are; 0
// only at the end. TB_EFORMAT for a block that cannot be, and whatever ended the input;
// all bytes before have been given by then.
int tb_pcapng_read(struct tb_pcapng *pcapng, void *buffer, size_t n, size_t *n_read,
	struct tb_error *error) TB_MUST_USE;

// What a tag says.
struct tb_pcapng_origin {
	uint16_t link_type; // the LINKTYPE_ value of the file
	uint32_t interface; // counted over all sections, from 0
};

bool tb_pcapng_tag(struct tb_bytes packet, struct tb_pcapng_origin *origin);

#endif
