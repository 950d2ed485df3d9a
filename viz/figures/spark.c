#include "spark.h"

#include "series.h"

#include <math.h>
#include <string.h>

void tb_sparks_begin(struct tb_sparks *sparks, enum tb_metric metric)
{
	if (sparks->metric != metric)
		memset(sparks->slots, 0, sizeof sparks->slots);
	sparks->metric = metric;
	sparks->looks_left = TB_SPARK_LOOKS;
	sparks->wanting = false;
}

const struct tb_spark *tb_spark_of(
	struct tb_sparks *sparks, struct tb_run *run, struct tb_link link)
{
	struct tb_spark *spark = &sparks->slots[link.id % TB_SPARK_SLOTS];
	if (spark->known && spark->link.id == link.id)
		return spark;
	uint64_t looks = tb_run_info(run)->n_bins;
	looks = looks < TB_SERIES_LOOKS ? looks : TB_SERIES_LOOKS;
	if (sparks->looks_left < looks) {
		sparks->wanting = true;
		return NULL;
	}
	sparks->looks_left -= looks;
	*spark = (struct tb_spark){.link = link, .known = true};
	// Reading the window will report a store that is gone.
	if (tb_run_series(run, link, sparks->metric, spark->values, TB_SPARK_COLUMNS,
		    NULL) != TB_OK)
		return NULL;
	for (int i = 0; i < TB_SPARK_COLUMNS; i++)
		if (spark->values[i] > spark->largest)
			spark->largest = spark->values[i];
	return spark;
}

void tb_spark_draw(struct tb_picture *picture, struct tb_box box,
	const struct tb_spark *spark, uint64_t largest, struct tb_colour colour)
{
	double step = box.w / TB_SPARK_COLUMNS;
	for (int i = 0; largest > 0 && i < TB_SPARK_COLUMNS; i++) {
		double h = box.h * fmin((double)spark->values[i] / (double)largest, 1);
		if (h <= 0)
			continue;
		h = fmax(h, 1);
		tb_picture_rect(picture,
			(struct tb_box){box.x + i * step, box.y + box.h - h, step, h},
			colour);
	}
}
