#include "address.h"

#include "units.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

char *tb_address_format(const struct tb_address *address, char *buffer, size_t size)
{
	uint8_t bytes[16];
	char wide[INET6_ADDRSTRLEN] = "";
	for (size_t i = 0; i < 8; i++) {
		bytes[i] = (uint8_t)(address->high >> (56 - 8 * i));
		bytes[8 + i] = (uint8_t)(address->low >> (56 - 8 * i));
	}
	const uint8_t *tail = bytes + 10; // six bytes: a MAC; the last four: IPv4
	inet_ntop(AF_INET6, bytes, wide, sizeof wide);
	switch (address->kind) {
	case TB_ADDRESS_NONE:
		snprintf(buffer, size, "none");
		break;
	case TB_ADDRESS_IPV4:
		snprintf(buffer, size, "%u.%u.%u.%u", tail[2], tail[3], tail[4], tail[5]);
		break;
	case TB_ADDRESS_IPV6:
		snprintf(buffer, size, "%s", wide);
		break;
	case TB_ADDRESS_MAC:
		snprintf(buffer, size, "%02x:%02x:%02x:%02x:%02x:%02x", tail[0], tail[1],
			tail[2], tail[3], tail[4], tail[5]);
		break;
	case TB_ADDRESS_LID:
		snprintf(buffer, size, "lid:%" PRIu64, address->low);
		break;
	case TB_ADDRESS_GID:
		snprintf(buffer, size, "gid:%s", wide);
		break;
	}
	return buffer;
}

static bool parse_wide(
	const char *text, enum tb_address_kind kind, struct tb_address *address)
{
	uint8_t bytes[16];
	return inet_pton(AF_INET6, text, bytes) == 1 &&
	       tb_address_wide_at((struct tb_bytes){bytes, 16}, 0, kind, address);
}

static bool parse_ipv4(const char *text, struct tb_address *address)
{
	uint8_t bytes[4];
	return inet_pton(AF_INET, text, bytes) == 1 &&
	       tb_address_ipv4_at((struct tb_bytes){bytes, 4}, 0, address);
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static bool parse_mac(const char *text, struct tb_address *address)
{
	if (strlen(text) != 17)
		return false;
	uint64_t value = 0;
	for (size_t i = 0; i < 17; i++) {
		if (i % 3 == 2) {
			if (text[i] != ':')
				return false;
			continue;
		}
		int digit = hex_digit(text[i]);
		if (digit < 0)
			return false;
		value = value << 4 | (uint64_t)digit;
	}
	*address = (struct tb_address){.low = value, .kind = TB_ADDRESS_MAC};
	return true;
}

static bool parse_lid(const char *text, struct tb_address *address)
{
	bool hex = strncmp(text, "0x", 2) == 0;
	const char *digits = hex ? text + 2 : text;
	size_t n = strlen(digits);
	if (n == 0 || n > 5 ||
		strspn(digits, hex ? "0123456789abcdefABCDEF" : "0123456789") != n)
		return false;
	unsigned long value = strtoul(digits, NULL, hex ? 16 : 10);
	if (value > UINT16_MAX)
		return false;
	*address = (struct tb_address){.low = value, .kind = TB_ADDRESS_LID};
	return true;
}

int tb_address_parse(const char *text, struct tb_address *address)
{
	bool known;
	if (strncmp(text, "lid:", 4) == 0)
		known = parse_lid(text + 4, address);
	else if (strncmp(text, "gid:", 4) == 0)
		known = parse_wide(text + 4, TB_ADDRESS_GID, address);
	else
		known = parse_ipv4(text, address) || parse_mac(text, address) ||
			parse_wide(text, TB_ADDRESS_IPV6, address);
	return known ? TB_OK : TB_EUSAGE;
}

int tb_address_compare(const struct tb_address *a, const struct tb_address *b)
{
	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	if (a->high != b->high)
		return a->high < b->high ? -1 : 1;
	if (a->low != b->low)
		return a->low < b->low ? -1 : 1;
	return 0;
}
