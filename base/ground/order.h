// The lesser and the greater of two numbers, and their order as qsort wants it.
#ifndef TB_ORDER_H
#define TB_ORDER_H

#include <stdint.h>
#include <string.h>

// TB_ORDER(a, b) is -1, 0 or 1 as a comes before b, is equal, or comes after it.
// Evaluates its arguments twice.
#define TB_ORDER(a, b) (((a) > (b)) - ((a) < (b)))

// TB_ORDER_BY(by_seat, struct seat, TB_UP(host) TB_DOWN(rank)) defines by_seat for qsort
// and bsearch: by member `host`, of equal ones the highest rank first. TB_UP_TEXT is
// TB_UP of a string.
#define TB_ORDER_BY(name, type, keys)                                                    \
	static int name(const void *left, const void *right)                             \
	{                                                                                \
		const type *one = left, *other = right;                                  \
		keys return 0;                                                           \
	}
#define TB_UP(member)                                                                    \
	if (one->member != other->member)                                                \
		return one->member < other->member ? -1 : 1;
#define TB_DOWN(member)                                                                  \
	if (one->member != other->member)                                                \
		return one->member > other->member ? -1 : 1;
#define TB_UP_TEXT(member)                                                               \
	if (strcmp(one->member, other->member) != 0)                                     \
		return strcmp(one->member, other->member);

// tb_order_u32, tb_order_i64, tb_order_u64 and tb_order_double let qsort and bsearch
// order numbers.
static inline int tb_order_u32(const void *left, const void *right)
{
	const uint32_t *a = left, *b = right;
	return TB_ORDER(*a, *b);
}

static inline int tb_order_i64(const void *left, const void *right)
{
	const int64_t *a = left, *b = right;
	return TB_ORDER(*a, *b);
}

static inline int tb_order_u64(const void *left, const void *right)
{
	const uint64_t *a = left, *b = right;
	return TB_ORDER(*a, *b);
}

static inline int tb_order_double(const void *left, const void *right)
{
	const double *a = left, *b = right;
	return TB_ORDER(*a, *b);
}

static inline uint64_t tb_min_u64(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static inline uint64_t tb_max_u64(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static inline int64_t tb_min_i64(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static inline int64_t tb_max_i64(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static inline double tb_min_double(double a, double b)
{
	return a < b ? a : b;
}

static inline double tb_max_double(double a, double b)
{
	return a > b ? a : b;
}

#endif
