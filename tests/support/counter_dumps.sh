# Writes the counters that the ports of a fabric would show after a replay, as the tools of a live fabric print them:
#   dump_counters STORE BASE FORMAT
# of the store's newest run. BASE is what all counters stood at before: with it, a run without traffic gives the earlier
# dump. FORMAT is perfquery, ibqueryerrors, pm, ufm, or exporter. The ports are those of switches and hosts.

# counted STORE BASE EMPTY: a line for each port: GUID, LID, port, is it a host's, name, words sent and received, packets
# sent and received, ticks of PortXmitWait; of the run, or, with EMPTY 0, as before it.
counted() {
	sqlite3 -separator '	' "$1" "
		SELECT coalesce(s.guid, n.guid), coalesce(s.lid, n.lid), CASE WHEN l.from_node IS NULL THEN l.from_number ELSE 1 END,
			l.from_node IS NOT NULL, coalesce(s.name, n.host), $2 + $3 * coalesce(t.bytes, 0) / 4,
			$2 + $3 * coalesce(b.bytes, 0) / 4, $2 + $3 * coalesce(t.packets, 0), $2 + $3 * coalesce(b.packets, 0),
			$2 + $3 * CAST(coalesce(t.stall_ps, 0) / 1e12 * l.bytes_per_s / 8 AS INTEGER)
		FROM link AS l LEFT JOIN switch AS s ON s.run = l.run AND s.switch = l.from_switch
		LEFT JOIN node AS n ON n.run = l.run AND n.node = l.from_node
		LEFT JOIN link_total AS t ON t.run = l.run AND t.link = l.link
		LEFT JOIN link_total AS b ON b.run = l.run AND b.link = l.reverse
		WHERE l.run = (SELECT max(run) FROM run) ORDER BY l.link"
}

# dump_counters STORE BASE FORMAT [EMPTY]
dump_counters() {
	local heading=
	[[ $3 == ufm ]] && heading='timestamp,node_guid,port_guid,port_num,node_description,PortXmitDataExtended,PortRcvDataExtended,PortXmitPktsExtended,PortRcvPktsExtended,PortXmitWaitExtended'
	counted "$1" "$2" "${4-1}" | awk -F '\t' -v format="$3" -v heading="$heading" -v time="${dump_time-1764230000}" '
		BEGIN { if (heading != "") print heading }
		format == "perfquery" {
			printf "# Port extended counters: Lid %s port %s (CapMask: 0x5300 CapMask2: 0x0000002)\n", $2, $3
			printf "PortSelect:......................%s\nCounterSelect:...................0x0000\n", $3
			printf "PortXmitData:....................%s\nPortRcvData:.....................%s\n", $6, $7
			printf "PortXmitPkts:....................%s\nPortRcvPkts:.....................%s\n", $8, $9
			printf "SymbolErrorCounter:..............0\nPortXmitWait:....................%s\n", $10
		}
		format == "ibqueryerrors" {
			printf "Errors for %s\"%s\"\n", $4 ? "" : $1 " ", $5
			printf "   GUID %s port %s: [PortXmitWait == %s]", $1, $3, $10
			printf " [PortXmitData == %s (1.2GB)] [PortRcvData == %s (1.2GB)]", $6, $7
			printf " [PortXmitPkts == %s (1.2M)] [PortRcvPkts == %s (1.2M)]\n", $8, $9
			printf "   Link info:   %s   %s[  ] ==( 4X 53.125 Gbps Active/  LinkUp)==>  0x0  1  1[  ] \"x\" ( )\n", $2, $3
		}
		format == "pm" {
			print "-------------------------------------------------------"
			printf "Port=%s Lid=0x%04x GUID=%s Device=54000 Port Name=%s/%s\n", $3, $2, $1, $5, $3
			print "-------------------------------------------------------"
			printf "link_down_counter=0x00\nport_xmit_wait=0x%08x\n", $10
			printf "port_xmit_data_extended=0x%016x\nport_rcv_data_extended=0x%016x\n", $6, $7
			printf "port_xmit_pkts_extended=0x%016x\nport_rcv_pkts_extended=0x%016x\nqp1_dropped_extended=NA\n", $8, $9
		}
		format == "ufm" {
			printf "%s000000,%s,%s,%s,%s,%s,%s,%s,%s,%s\n", time, $1, $1, $3, $5, $6, $7, $8, $9, $10
		}
		format == "exporter" {
			kind = $4 ? "hca" : "switch"
			split("transmit_data_bytes receive_data_bytes transmit_packets receive_packets transmit_wait", name, " ")
			for (i = 1; i <= 5; i++)
				printf "infiniband_%s_port_%s_total{guid=\"%s\",port=\"%s\"} %s %s000\n", kind, name[i], $1, $3, \
					$(i + 5) * (i < 3 ? 4 : 1), time
		}'
}
