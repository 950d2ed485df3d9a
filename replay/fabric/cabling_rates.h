// InfiniBand's words for the width and speed of a cable, "4xNDR", and their data rates.
//
// Data rates of 4x links, Gbit/s: SDR 8, DDR 16, QDR 32, FDR10 40, FDR 54.5, EDR 100, HDR
// 200, NDR 400, XDR 800 (IBTA, "InfiniBand roadmap"; SDR to QDR lose a fifth to 8b/10b
// coding, FDR10 and FDR 2/66). Widths are 1x, 2x, 4x, 8x and 12x, in proportion.
#ifndef TB_CABLING_RATES_H
#define TB_CABLING_RATES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// tb_cabling_rate_parse reads such a word, of `n` bytes; 0 when it is none.
uint64_t tb_cabling_rate_parse(const char *word, size_t n); // bytes per second

// tb_cabling_rate_text writes the word for a rate and returns `buffer`, NULL when no word
// gives it. Of several the one of width 4 is meant, then the narrowest. 12 bytes suffice.
const char *tb_cabling_rate_text(uint64_t bytes_per_s, char *buffer, size_t size);

// tb_cabling_rate_read reads a rate as simulators write it: "25Gbps" and "100Mb/s" are
// bits, "125MBps" and "1.25GB/s" bytes. A number without a unit is bits or bytes by
// `bare`, 'b' or 'B', or no rate (0). False also for what is not from 1 MB/s to 1000
// GB/s.
bool tb_cabling_rate_read(const char *text, char bare, uint64_t *bytes_per_s);

#endif
