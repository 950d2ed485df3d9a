// How much work to do between two checks of the clock or of a stop flag, where the time
// that a step takes is not known beforehand and changes.
//
//	struct tb_pace pace = {0};
//	while (there is work and nobody says stop)
//		do tb_pace_next(&pace) steps;
#ifndef TB_PACE_H
#define TB_PACE_H

#include <stdint.h>

struct tb_pace {
	uint64_t n; // steps of the last stretch; 0: none yet
	double started_s;
};

// tb_pace_next returns how many steps to do now, from 1 to 20,000: so many that they take
// 5 to 20 ms, if they are like those done since the last call.
uint64_t tb_pace_next(struct tb_pace *pace);

#endif
