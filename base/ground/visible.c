#include "visible.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SHOWN_BYTES 4 // length of \xHH

// decode returns the character of `length` bytes (2 to 4), or 0 if they are not one or an
// overlong form of one.
static uint32_t decode(const unsigned char *text, size_t length)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	uint32_t code = text[0] & (0x7fu >> length);
	for (size_t i = 1; i < length; i++) {
		if ((text[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (text[i] & 0x3f);
	}
	return code >= least[length] ? code : 0;
}

// printable returns the length of the character at `text`, where `n` bytes are left; 0 if
// its first byte must be shown as \xHH.
static size_t printable(const unsigned char *text, size_t n)
{
	if (text[0] < 0x80)
		return text[0] >= 0x20 && text[0] != 0x7f;
	size_t length = text[0] >= 0xf0 ? 4 : text[0] >= 0xe0 ? 3 : 2;
	if (text[0] < 0xc2 || text[0] > 0xf4 || length > n)
		return 0;
	uint32_t code = decode(text, length);
	bool surrogate = code >= 0xd800 && code <= 0xdfff;
	bool forbidden = code == 0xfffe || code == 0xffff;
	return code < 0xa0 || code > 0x10ffff || surrogate || forbidden ||
			       (code == 0x061c || code == 0x200e || code == 0x200f ||
				       (code >= 0x2028 && code <= 0x202e) ||
				       (code >= 0x2066 && code <= 0x2069))
		       ? 0
		       : length;
}

// show_character copies the character of `length` bytes, or writes one byte as \xHH if
// `length` is 0, and returns how many bytes it wrote.
static size_t show_character(const unsigned char *text, size_t length, char *to)
{
	static const char digits[] = "0123456789abcdef";
	if (length) {
		memcpy(to, text, length);
		return length;
	}
	memcpy(to, "\\x", 2);
	to[2] = digits[text[0] >> 4];
	to[3] = digits[text[0] & 15];
	return SHOWN_BYTES;
}

const char *tb_visible(const char *text, char *buffer, size_t size)
{
	const unsigned char *at = (const unsigned char *)text;
	const unsigned char *end = at + strlen(text);
	size_t used = 0, length = 0;
	while (at < end && (length = printable(at, (size_t)(end - at))) > 0)
		at += length;
	if (at == end)
		return text;
	for (at = (const unsigned char *)text; at < end; at += length ? length : 1) {
		length = printable(at, (size_t)(end - at));
		if (used + (length ? length : SHOWN_BYTES) >= size)
			break;
		used += show_character(at, length, buffer + used);
	}
	buffer[used] = '\0';
	return buffer;
}

size_t tb_visible_cut(const char *text, size_t most)
{
	size_t n = strnlen(text, most);
	while (n > 0 && ((unsigned char)text[n] & 0xc0) == 0x80)
		n--;
	return n;
}

char *tb_visible_dup(const char *text)
{
	size_t size = strlen(text) * SHOWN_BYTES + 1;
	char *copy = malloc(size);
	if (!copy)
		return NULL;
	const char *shown = tb_visible(text, copy, size);
	if (shown == text)
		memcpy(copy, text, strlen(text) + 1);
	return copy;
}

static bool write_to_descriptor(int fd, const char *bytes, size_t n)
{
	while (n > 0) {
		ssize_t done = write(fd, bytes, n);
		if (done < 0 && errno != EINTR)
			return false;
		bytes += done > 0 ? done : 0;
		n -= done > 0 ? (size_t)done : 0;
	}
	return true;
}

static ssize_t stream_write(void *cookie, const char *bytes, size_t n)
{
	int fd = (int)(intptr_t)cookie;
	const unsigned char *at = (const unsigned char *)bytes, *end = at + n;
	char shown[1024];
	size_t used = 0;
	while (at < end) {
		size_t length = *at == '\n' ? 1 : printable(at, (size_t)(end - at));
		used += show_character(at, length, shown + used);
		at += length ? length : 1;
		if (used + SHOWN_BYTES > sizeof shown || at == end) {
			if (!write_to_descriptor(fd, shown, used))
				return 0;
			used = 0;
		}
	}
	return (ssize_t)n;
}

FILE *tb_visible_stream(int fd)
{
	// The descriptor itself is the cookie, so that there is nothing to free.
	FILE *stream = fopencookie((void *)(intptr_t)fd, "w",
		(cookie_io_functions_t){.write = stream_write});
	if (stream)
		setvbuf(stream, NULL, _IONBF, 0);
	return stream;
}
