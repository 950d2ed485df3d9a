#include "spark.h"

#include "series.h"

#include <math.h>
#include <string.h>

#define N_PLACES 16 // of a link

void tb_sparks_begin(struct tb_sparks *sparks, enum tb_metric metric)
{
	if (sparks->metric != metric)
		memset(sparks->slots, 0, sizeof sparks->slots);
	sparks->metric = metric;
	sparks->picture++;
	sparks->n_wanted = 0;
}

// spark_slot returns the slot of a link, or the one that it may take: of a few by its id,
// so that lines of one picture do not drive each other out.
static struct tb_spark *spark_slot(struct tb_sparks *sparks, struct tb_link link)
{
	struct tb_spark *oldest = &sparks->slots[link.id % TB_SPARK_SLOTS];
	for (uint32_t i = 0; i < N_PLACES; i++) {
		struct tb_spark *slot = &sparks->slots[(link.id + i) % TB_SPARK_SLOTS];
		if (slot->known && slot->link.id == link.id)
			return slot;
		if (!slot->known || (oldest->known && slot->picture < oldest->picture))
			oldest = slot;
	}
	return oldest;
}

const struct tb_spark *tb_spark_of(struct tb_sparks *sparks, struct tb_link link)
{
	struct tb_spark *spark = spark_slot(sparks, link);
	if (spark->known && spark->link.id == link.id) {
		spark->picture = sparks->picture;
		return spark;
	}
	if (sparks->n_wanted < TB_SPARK_WANTED)
		sparks->wanted[sparks->n_wanted++] = link;
	return NULL;
}

int tb_spark_read(struct tb_spark *spark, struct tb_run *run, struct tb_link link,
	enum tb_metric metric, struct tb_error *error)
{
	*spark = (struct tb_spark){.link = link, .known = true};
	int status =
		tb_run_series(run, link, metric, spark->values, TB_SPARK_COLUMNS, error);
	for (int i = 0; i < TB_SPARK_COLUMNS; i++) {
		if (status != TB_OK)
			spark->values[i] = 0;
		if (spark->values[i] > spark->largest)
			spark->largest = spark->values[i];
	}
	return status;
}

void tb_sparks_keep(struct tb_sparks *sparks, const struct tb_spark *spark)
{
	struct tb_spark *slot = spark_slot(sparks, spark->link);
	*slot = *spark;
	slot->picture = sparks->picture;
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
