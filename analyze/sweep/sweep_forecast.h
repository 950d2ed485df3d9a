// Foresees how long the points of a sweep take, from those that are done. Private to
// analyze/sweep/.
//
// Model: a point takes its estimated cost (tb_sweep_cost) times a factor that follows the
// point's nodes, load and message size as powers. The powers are fitted to the points
// that are done, by least squares in logarithms, held towards 0 while there are few: so
// the costs that are left are foreseen from dear points, which are run first, as well as
// from the like.
#ifndef TB_SWEEP_FORECAST_H
#define TB_SWEEP_FORECAST_H

#include "sweep.h"

enum { TB_FORECAST_POWERS = 4 }; // of 1, nodes, load, message size

// A zeroed struct knows nothing.
struct tb_sweep_forecast {
	double squares[TB_FORECAST_POWERS][TB_FORECAST_POWERS]; // sums of products
	double products[TB_FORECAST_POWERS];			// with what was taken
	double powers[TB_FORECAST_POWERS];
	size_t n;
};

// tb_sweep_forecast_add learns that a point took so many seconds. Constant cost.
void tb_sweep_forecast_add(struct tb_sweep_forecast *forecast,
	const struct tb_sweep_point *point, double seconds);

// tb_sweep_forecast_of returns the seconds that a point will take; its estimated cost
// while nothing is known.
double tb_sweep_forecast_of(
	const struct tb_sweep_forecast *forecast, const struct tb_sweep_point *point);

#endif
