#include "style.h"

struct tb_type tb_style_type(
	const struct tb_style *style, enum tb_font font, double size, bool muted)
{
	const struct tb_palette *palette = tb_palette_of(style->theme);
	return (struct tb_type){
		font, size, TB_ALIGN_LEFT, muted ? palette->muted : palette->text};
}

struct tb_scale tb_style_scale(
	const struct tb_style *style, enum tb_quantity quantity, double largest)
{
	return tb_scale_of(quantity, largest, style->absolute, style->logarithmic);
}

struct tb_colour tb_style_shade(const struct tb_style *style, double percent)
{
	return tb_shade(style->colours, style->theme, percent);
}
