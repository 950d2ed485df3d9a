// Widths of text, from the advances of DejaVu's glyphs.
//
// Measuring with the backend's fonts would make layouts depend on the backend and on the
// installed fonts, and golden pictures impossible.
#include "picture.h"

// Advances of U+0020..U+007E in thousandths of an em (DejaVu 2.37).
static const uint16_t sans[] = {318, 401, 460, 838, 636, 950, 780, 275, 390, 390, 500,
	838, 318, 361, 318, 337, 636, 636, 636, 636, 636, 636, 636, 636, 636, 636, 337,
	337, 838, 838, 838, 531, 1000, 684, 686, 698, 770, 632, 575, 775, 752, 295, 295,
	656, 557, 863, 748, 787, 603, 787, 695, 635, 611, 732, 684, 989, 685, 611, 685,
	390, 337, 390, 838, 500, 500, 613, 635, 550, 635, 615, 352, 635, 634, 278, 278,
	579, 278, 974, 634, 612, 635, 635, 411, 521, 392, 634, 592, 818, 592, 592, 525,
	636, 337, 636, 838};

static const uint16_t bold[] = {348, 456, 521, 838, 696, 1002, 872, 306, 457, 457, 523,
	838, 380, 415, 380, 365, 696, 696, 696, 696, 696, 696, 696, 696, 696, 696, 400,
	400, 838, 838, 838, 580, 1000, 774, 762, 734, 830, 683, 683, 821, 837, 372, 372,
	775, 637, 995, 837, 850, 733, 850, 770, 720, 682, 812, 774, 1103, 771, 724, 725,
	457, 365, 457, 838, 500, 500, 675, 716, 593, 716, 678, 435, 716, 712, 343, 343,
	665, 343, 1042, 712, 687, 716, 716, 493, 595, 478, 712, 652, 924, 645, 652, 582,
	712, 365, 712, 838};

#define MONO_ADVANCE 602
// Characters beyond ASCII are rare (host names): count each as a wide letter.
#define OTHER_ADVANCE 838

static double text_advance(enum tb_font font, unsigned char byte)
{
	bool ascii = byte >= ' ' && byte < 0x7f;
	switch (font) {
	case TB_FONT_TEXT:
		return ascii ? sans[byte - ' '] : OTHER_ADVANCE;
	case TB_FONT_BOLD:
		return ascii ? bold[byte - ' '] : OTHER_ADVANCE;
	case TB_FONT_MONO:
		return MONO_ADVANCE;
	case TB_FONT_CELL:
		break;
	}
	return 1000;
}

double tb_text_width(enum tb_font font, double size, const char *text)
{
	double thousandths = 0;
	for (const char *at = text; *at; at++)
		if (((unsigned char)*at & 0xc0) != 0x80)
			thousandths += text_advance(font, (unsigned char)*at);
	return thousandths * size / 1000;
}
