// Whatever a map of names holds, the fabric's devices get names of their own by it, or it
// is refused.
#include "cabling.h"
#include "cabling_build.h"
#include "fabric_readers.h"
#include "fuzz_file.h"
#include "preset.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char fabric[] =
	"switchguid=0xa0(a0)\n"
	"Switch\t3 \"S-00000000000000a0\"\t# \"leaf\" base port 0 lid 1\n"
	"[1]\t\"H-00000000000000b0\"[1](b1)\t# \"n1 mlx5_0\" lid 2 4xHDR\n"
	"[2]\t\"H-00000000000000c0\"[1](c1)\t# \"n2 mlx5_0\" lid 3 4xHDR\n";

static void name_by(const char *path)
{
	struct tb_error error;
	struct tb_network_params params;
	struct tb_network *net = NULL;
	struct tb_cabling cabling = {.file = "fuzz", .error = &error};
	const struct tb_cabling_options options = {.params = &params, .names = path};
	FILE *stream = fmemopen(fabric, sizeof fabric - 1, "r");
	if (stream && tb_network_preset(&params, "ib-hdr", &error) == TB_OK &&
		tb_ibnetdiscover_read(&cabling, stream) == TB_OK &&
		tb_cabling_build(&net, &cabling, &options, &error) == TB_OK) {
		if (tb_network_n_nodes(net) != 2)
			__builtin_trap();
		tb_network_free(net);
	}
	if (stream)
		fclose(stream);
	tb_cabling_fini(&cabling);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char path[FUZZ_FILE_PATH];
	if (fuzz_input_file(data, size, path))
		name_by(path);
	return 0;
}
