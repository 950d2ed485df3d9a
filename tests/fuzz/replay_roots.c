// Whatever a file of roots holds, the fabric gets its levels by it, or it is refused.
// Half of the inputs name a fabric's switches by GUIDs, half by names alone.
#include "cabling.h"
#include "cabling_build.h"
#include "fabric_readers.h"
#include "fuzz_file.h"
#include "preset.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char with_guids[] =
	"switchguid=0xa0(a0)\n"
	"Switch\t3 \"S-00000000000000a0\"\t# \"leaf 1\" base port 0 lid 1\n"
	"[1]\t\"H-00000000000000c0\"[1](c1)\t# \"n1 mlx5_0\" lid 3 4xHDR\n"
	"[2]\t\"S-00000000000000b0\"[1]\t# \"top\" lid 2 4xHDR\n"
	"\nswitchguid=0xb0(b0)\n"
	"Switch\t3 \"S-00000000000000b0\"\t# \"top\" base port 0 lid 2\n"
	"[1]\t\"S-00000000000000a0\"[2]\t# \"leaf 1\" lid 1 4xHDR\n"
	"[2]\t\"S-00000000000000d0\"[2]\t# \"leaf 2\" lid 4 4xHDR\n"
	"\nswitchguid=0xd0(d0)\n"
	"Switch\t3 \"S-00000000000000d0\"\t# \"leaf 2\" base port 0 lid 4\n"
	"[1]\t\"H-00000000000000e0\"[1](e1)\t# \"n2 mlx5_0\" lid 5 4xHDR\n"
	"[2]\t\"S-00000000000000b0\"[2]\t# \"top\" lid 2 4xHDR\n";

static char by_names[] = "leaf1 1 n1 1\nleaf1 2 top 1\nleaf2 1 n2 1\nleaf2 2 top 2\n";

static void level_by(const struct tb_network_params *preset, char *fabric,
	int (*read)(struct tb_cabling *cabling, FILE *stream), const char *path)
{
	struct tb_error error;
	struct tb_network_params params = *preset;
	struct tb_network *net = NULL;
	struct tb_cabling cabling = {.file = "fuzz", .error = &error};
	const struct tb_cabling_options options = {.params = &params, .roots = path};
	FILE *stream = fmemopen(fabric, strlen(fabric), "r");
	if (stream && read(&cabling, stream) == TB_OK &&
		tb_cabling_build(&net, &cabling, &options, &error) == TB_OK) {
		if (tb_network_n_nodes(net) != 2)
			abort();
		tb_network_free(net);
	}
	if (stream)
		fclose(stream);
	tb_cabling_fini(&cabling);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct tb_network_params params;
	char path[FUZZ_FILE_PATH];
	if (!params.n_rails && tb_network_preset(&params, "ib-hdr", NULL) != TB_OK)
		return 0;
	if (!fuzz_input_file(data, size, path))
		return 0;
	if (size % 2)
		level_by(&params, with_guids, tb_ibnetdiscover_read, path);
	else
		level_by(&params, by_names, tb_edge_list_read, path);
	return 0;
}
