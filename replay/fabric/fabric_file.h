// Opens networks that are fabrics in files.
//
// As text such a network is the file's name, with keys behind it: "fabric.topo",
// "fabric.topo,preset=ib-ndr,payload=2048,nics=host". Its keys:
//
//   preset   what has the parameters that the file does not give. Without it the ib
//            preset (of Ethernet the roce preset) whose links are as fast as the
//            fabric's fastest cable, or the next faster one
//   nics     port: each port of an adapter is a node (the default in a fabric that hangs
//            together). host: each host is one, and its ports are its rails (the default
//            in one of several parts)
//   adapters of each host those that count, "mlx5_[0-7]"
//   part     a switch of the one part that counts, of several that no cable joins
//   roots    the file that names the top switches (cabling_names.h)
//   names    the file that names devices (cabling_names.h)
//
// and those of that preset but for arity, levels, rails and shape, which the file
// decides, and for rate where it gives that of each cable. No key may stand twice. A
// file's kind is told by its content (fabric_formats.h); it may be compressed (infile.h).
#ifndef TB_FABRIC_FILE_H
#define TB_FABRIC_FILE_H

#include "network_open.h"

#include <stddef.h>

// tb_fabric_file_open builds the network of a description's name, which is called as the
// file without folder and extensions. TB_EFOREIGN, with no sentence, when the name begins
// with no file or the file holds no fabric; TB_EUSAGE for keys; else as the reader and
// cabling_build.h.
int tb_fabric_file_open(struct tb_network **network,
	const struct tb_network_description *description,
	struct tb_error *error) TB_MUST_USE;

// tb_fabric_file_path stores the file's name that such a text begins with, for the caller
// to free. TB_EFOREIGN, with no sentence, when it begins with no file; TB_ENOMEM.
int tb_fabric_file_path(
	char **path, const char *text, struct tb_error *error) TB_MUST_USE;

#endif
