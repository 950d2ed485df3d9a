// SVG: text stays text, and tips become <title>, which browsers show on hover.
#ifndef TB_DRAW_SVG_H
#define TB_DRAW_SVG_H

#include "picture.h"

// tb_picture_svg writes the picture as one <svg> element without prolog or ids, valid as
// a file and inside HTML. `width` is its width in pixels, 0 to fill its container; the
// viewBox is the picture's size. Write errors show in ferror(stream).
void tb_picture_svg(const struct tb_picture *picture, double width, FILE *stream);

#endif
