// SVG: text stays text, tips become <title> (a browser shows them on hover).
#ifndef TB_DRAW_SVG_H
#define TB_DRAW_SVG_H

#include "picture.h"

// tb_picture_svg writes the picture as one <svg> element without prolog and without ids,
// so that it stands as a file and within HTML alike. `width` is the width that it asks
// for in pixels, 0 to fill what it is given; the viewBox is the picture's size. Write
// errors show in ferror(stream).
void tb_picture_svg(const struct tb_picture *picture, double width, FILE *stream);

#endif
