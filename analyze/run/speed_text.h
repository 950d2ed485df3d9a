// Rates as networks are sold.
#ifndef TB_SPEED_TEXT_H
#define TB_SPEED_TEXT_H

#include <stddef.h>
#include <stdio.h>

// tb_speed_text writes "400 Gbit/s" and returns buffer; 32 bytes suffice.
static inline char *tb_speed_text(double bytes_per_s, char *buffer, size_t size)
{
	double gbit = bytes_per_s * 8 / 1e9;
	if (gbit < 0.9995e-3)
		snprintf(buffer, size, "%.4g kbit/s", gbit * 1e6);
	else if (gbit < 0.9995)
		snprintf(buffer, size, "%.4g Mbit/s", gbit * 1000);
	else if (gbit < 9999.5)
		snprintf(buffer, size, "%.4g Gbit/s", gbit);
	else
		snprintf(buffer, size, "%.4g Tbit/s", gbit / 1000);
	return buffer;
}

#endif
