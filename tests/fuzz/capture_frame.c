// The frame decoder: the first byte chooses the link type, the second how many bytes of
// the frame were not captured.
#include "frame.h"

#include <pcap/pcap.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const int link_types[] = {DLT_EN10MB, DLT_LINUX_SLL, DLT_LINUX_SLL2,
		DLT_RAW, DLT_NULL, DLT_LOOP, DLT_INFINIBAND, DLT_ERF, DLT_IEEE802_11,
		DLT_IEEE802_11_RADIO, DLT_PPI, DLT_PPP, DLT_PPP_WITH_DIR, DLT_PPP_ETHER,
		DLT_C_HDLC, DLT_FRELAY, DLT_SLIP, DLT_SUNATM, DLT_NFLOG, DLT_IPOIB,
		DLT_DSA_TAG_DSA, DLT_DSA_TAG_EDSA, DLT_DSA_TAG_BRCM_PREPEND, DLT_USER0,
		DLT_PKTAP, DLT_JUNIPER_ETHER};
	struct tb_frame frame;
	struct tb_frame_ends ends;
	if (size < 2)
		return 0;
	int link_type = link_types[data[0] % (sizeof link_types / sizeof *link_types)];
	uint32_t wire_bytes = (uint32_t)size - 2 + data[1] * data[1];
	tb_frame_decode(&frame, &ends, link_type, (struct tb_bytes){data + 2, size - 2},
		wire_bytes, true);
	if (frame.kind == TB_FRAME_DATA &&
		(ends.source.kind == TB_ADDRESS_NONE ||
			ends.source.kind != ends.destination.kind ||
			frame.header_bytes < frame.network_header_bytes ||
			(uint64_t)frame.header_bytes + frame.payload_bytes >
				(uint64_t)frame.wire_bytes))
		abort();
	// If the decoder did not reach network addresses, the type must have a name.
	char text[TB_FRAME_TYPE_TEXT_SIZE];
	const struct tb_frame_type type = {frame.type, frame.registry};
	bool left_out =
		frame.kind == TB_FRAME_UNDECODABLE || frame.kind == TB_FRAME_CONTROL;
	if (strlen(tb_frame_type_format(type, text, sizeof text)) + 1 >= sizeof text ||
		(left_out && frame.registry == TB_REGISTRY_NONE))
		abort();
	return 0;
}
