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

#endif
