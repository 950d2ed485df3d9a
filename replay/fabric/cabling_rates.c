#include "cabling_rates.h"

#include <stdio.h>
#include <string.h>

static const struct {
	const char *name;
	uint64_t lane_mbit_per_s; // data, of one lane
} speeds[] = {
	{"SDR", 2000},
	{"DDR", 4000},
	{"QDR", 8000},
	{"FDR10", 10000},
	{"FDR", 13625},
	{"EDR", 25000},
	{"HDR", 50000},
	{"NDR", 100000},
	{"XDR", 200000},
};
enum { N_SPEEDS = sizeof speeds / sizeof *speeds };

// In the order in which a rate is put into words.
static const unsigned widths[] = {4, 1, 2, 8, 12};
enum { N_WIDTHS = sizeof widths / sizeof *widths };

static uint64_t cabling_rate_of(unsigned width, size_t speed)
{
	return width * speeds[speed].lane_mbit_per_s * UINT64_C(1000000) / 8;
}

uint64_t tb_cabling_rate_parse(const char *word, size_t n)
{
	char name[16];
	for (size_t i = 0; i < N_WIDTHS; i++)
		for (size_t speed = 0; speed < N_SPEEDS; speed++) {
			int length = snprintf(name, sizeof name, "%ux%s", widths[i],
				speeds[speed].name);
			if ((size_t)length == n && memcmp(name, word, n) == 0)
				return cabling_rate_of(widths[i], speed);
		}
	return 0;
}

const char *tb_cabling_rate_text(uint64_t bytes_per_s, char *buffer, size_t size)
{
	for (size_t i = 0; i < N_WIDTHS; i++)
		for (size_t speed = 0; speed < N_SPEEDS; speed++)
			if (cabling_rate_of(widths[i], speed) == bytes_per_s) {
				snprintf(buffer, size, "%ux%s", widths[i],
					speeds[speed].name);
				return buffer;
			}
	return NULL;
}
