#include "sweep_work.h"

#include <math.h>
#include <string.h>

// How firmly a power is held at 0, in points that say so. The factor itself is free.
#define HELD 2.0

#define LEAST_S 1e-4 // shorter points are all alike

static double point_cost(const struct tb_sweep_point *point)
{
	return fmax(tb_sweep_cost(point), 1);
}

static void point_powers(
	const struct tb_sweep_point *point, double of[TB_FORECAST_POWERS])
{
	const struct tb_experiment *experiment = &point->experiment;
	of[0] = 1;
	of[1] = log2(fmax(experiment->n_active, 1));
	of[2] = log2(tb_sweep_share(point));
	of[3] = log2(fmax((double)experiment->message_bytes, 1));
}

static double fitted(
	const struct tb_sweep_forecast *forecast, const struct tb_sweep_point *point)
{
	double of[TB_FORECAST_POWERS], sum = 0;
	point_powers(point, of);
	for (int i = 0; i < TB_FORECAST_POWERS; i++)
		sum += forecast->powers[i] * of[i];
	return point_cost(point) * exp2(sum);
}

void tb_sweep_forecast_add(struct tb_sweep_forecast *forecast,
	const struct tb_sweep_point *point, double seconds)
{
	double of[TB_FORECAST_POWERS];
	double taken = log2(fmax(seconds, LEAST_S) / point_cost(point));
	point_powers(point, of);
	for (int i = 0; i < TB_FORECAST_POWERS; i++) {
		for (int k = 0; k < TB_FORECAST_POWERS; k++)
			forecast->squares[i][k] += of[i] * of[k];
		forecast->products[i] += of[i] * taken;
	}
	forecast->n++;
	// Solve the normal equations by Gaussian elimination; they are positive
	// definite.
	enum { N = TB_FORECAST_POWERS };
	double rows[N][N + 1];
	for (int i = 0; i < N; i++) {
		memcpy(rows[i], forecast->squares[i], sizeof forecast->squares[i]);
		rows[i][N] = forecast->products[i];
		rows[i][i] += i > 0 ? HELD : 1e-9;
	}
	for (int i = 0; i < N; i++)
		for (int k = i + 1; k < N; k++) {
			double share = rows[k][i] / rows[i][i];
			for (int c = i; c <= N; c++)
				rows[k][c] -= share * rows[i][c];
		}
	for (int i = N - 1; i >= 0; i--) {
		forecast->powers[i] = rows[i][N];
		for (int c = i + 1; c < N; c++)
			forecast->powers[i] -= rows[i][c] * forecast->powers[c];
		forecast->powers[i] /= rows[i][i];
	}
}

double tb_sweep_forecast_of(
	const struct tb_sweep_forecast *forecast, const struct tb_sweep_point *point)
{
	return forecast->n > 0 ? fitted(forecast, point) : point_cost(point);
}
