// Binary search in whatever ascends:
//
//	size_t at;
//	TB_BISECT(at, n, events[at].time < time);
//
// sets `at` to the first place from 0 on at which the condition, an expression of `at`,
// does not hold, or to n. The condition holds up to some place, and nowhere after it; it
// is never asked of n. Cost: log2(n) conditions.
#ifndef TB_BISECT_H
#define TB_BISECT_H

#define TB_BISECT(at, n, before)                                                         \
	for (__typeof__((at) + 0) low_ = 0, high_ = (n);                                 \
		(at) = low_ + (high_ - low_) / 2, low_ < high_;) {                       \
		if (before)                                                              \
			low_ = (at) + 1;                                                 \
		else                                                                     \
			high_ = (at);                                                    \
	}

#endif
