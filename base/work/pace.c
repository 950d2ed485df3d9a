#include "pace.h"

#include "progress.h"

enum { FIRST = 16, MOST = 20000 };
#define SHORT_S 0.005
#define LONG_S	0.02

uint64_t tb_pace_next(struct tb_pace *pace)
{
	double now_s = tb_clock_s(), took_s = now_s - pace->started_s;
	if (pace->n == 0)
		pace->n = FIRST;
	else if (took_s < SHORT_S)
		pace->n = pace->n < MOST / 2 ? pace->n * 2 : MOST;
	else if (took_s > LONG_S)
		pace->n = pace->n > 1 ? pace->n / 2 : 1;
	pace->started_s = now_s;
	return pace->n;
}
