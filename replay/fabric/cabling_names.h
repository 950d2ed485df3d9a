// What the devices of a fabric are called, made so that each name stands for one.
//
// An adapter's name is "HOST ADAPTER", as InfiniBand drivers set it ("node7 mlx5_0",
// "node7 HCA-1"), or the host's alone. Where it is a product's name, because nobody set
// one, the adapter goes by its GUID; where several devices have the same, each gets its
// GUID (or LID) added, and an adapter that did is a host of its own.
#ifndef TB_CABLING_NAMES_H
#define TB_CABLING_NAMES_H

#include "cabling.h"

// tb_cabling_name_all makes the names of all devices their own and notes which it
// changed.
int tb_cabling_name_all(struct tb_cabling *cabling) TB_MUST_USE;

// tb_cabling_host_bytes returns how many bytes of an adapter's name name its host.
size_t tb_cabling_host_bytes(const char *name);

// tb_cabling_is_guid returns whether a name is a GUID that stands for none ("0x" and 16
// digits).
bool tb_cabling_is_guid(const char *name);

// tb_cabling_compare orders names as people do, "n2" before "n10": digits by their
// number, all else by bytes. Names of up to `n_one` and `n_other` bytes; 0 only when they
// are equal.
int tb_cabling_compare(const char *one, size_t n_one, const char *other, size_t n_other);

// The roots of a fabric, named in a file as OpenSM's root_guid_file does: a GUID per line
// (what follows it is a comment), or the name of a switch, which may be as short as on
// the command line. Lines that begin with '#' are comments.

// tb_cabling_roots_read stores by device which switches are roots, for the caller to
// free. Those that the fabric does not have are noted. TB_EFORMAT with the line of a name
// that several switches have, or when no root is left; TB_EIO, TB_ENOMEM.
int tb_cabling_roots_read(
	bool **is_root, struct tb_cabling *cabling, const char *path) TB_MUST_USE;

// The names that a site gives devices, in a file as --node-name-map of infiniband-diags
// takes it: a GUID and a name in double quotes per line. Lines that begin with '#' are
// comments. GUIDs are those of devices, or of their ports, which is all that iblinkinfo
// prints.

// tb_cabling_names_read names devices so. GUIDs that the fabric does not have are noted.
// TB_EUSAGE for a fabric without GUIDs; TB_EFORMAT with the line that is none; TB_EIO,
// TB_ENOMEM.
int tb_cabling_names_read(struct tb_cabling *cabling, const char *path) TB_MUST_USE;

#endif
