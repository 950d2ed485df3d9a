// Writes parameters as a preset: the INI text that tb_network_preset reads.
//
// Every key that the network has stands in it, so it does not depend on the preset that
// it came from. Times are in ps, sizes in bytes, rates in B/s, to the last digit. Of
// libraries that hosts may use it has the one that they do.
#ifndef TB_PRESET_WRITE_H
#define TB_PRESET_WRITE_H

#include "network_params.h"

#include <stdio.h>

// tb_preset_write writes the preset. Write errors show in ferror(stream).
void tb_preset_write(const struct tb_network_params *params, FILE *stream);

#endif
