-- A store of one run for golden tests: 2-ary 2-tree, two jobs, names that want escaping.
-- Read it into sqlite3 after schemas/results.sql.
BEGIN;
INSERT INTO run(run,complete,simulated_ps,n_messages,n_packets,delivered_bytes,bin_ps,tree_bin_ps,root_bin_ps,input_name,input_kind,input_digest,input_bytes,options,time_scale,seed,program_version,input_summary,n_nodes,n_switches,n_links,n_levels,n_jobs,network,switching,topology) VALUES(1,1,132035050,24,312,98304,20000000,160000000,160000000,'traces/melt|<io>.pcap','packets','0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef',4096,'--bin 20us',0.5,'18364758544493064720','0.1.0','{"records": 400, "acks": 88}',4,4,16,2,2,'qsnet','circuits',1);
INSERT INTO run_parameter VALUES(1,'arity',2),(1,'levels',2),(1,'rails',1),(1,'ascent','adaptive'),(1,'broadcast','no'),(1,'host','none'),(1,'rate',400000000),(1,'hop_latency',35000),(1,'vcs',2),(1,'fifo',256),(1,'flit',2),(1,'payload',320),(1,'overhead',58),(1,'bus',560000000),(1,'send_overhead',1000000),(1,'receive_overhead',700000),(1,'slice',0),(1,'retries',0),(1,'retry_delay',0),(1,'ack_delay',200000),(1,'age_weight',0.6),(1,'partners',0),(1,'partner_delay',0);
INSERT INTO run_environment(run,started_at,host,machine,wall_s) VALUES(1,'2026-11-20T12:00:00.000Z','example','x86_64',0.25);
INSERT INTO topology(topology,digest) VALUES(1,'');
INSERT INTO topology_node(topology,node,host,lid) VALUES(1,0,'',1);
INSERT INTO node_name(run,node,name) VALUES(1,0,'10.0.0.1');
INSERT INTO topology_node(topology,node,host,lid) VALUES(1,1,'',2);
INSERT INTO node_name(run,node,name) VALUES(1,1,'10.0.0.2');
INSERT INTO topology_node(topology,node,host,lid) VALUES(1,2,'',3);
INSERT INTO node_name(run,node,name) VALUES(1,2,'10.0.0.3');
INSERT INTO topology_node(topology,node,host,lid) VALUES(1,3,'',4);
INSERT INTO topology_switch(topology,switch,name,lid,level,index_in_level,n_down_ports,n_up_ports) VALUES(1,0,'0.0',5,0,0,2,2);
INSERT INTO topology_switch(topology,switch,name,lid,level,index_in_level,n_down_ports,n_up_ports) VALUES(1,1,'0.1',6,0,1,2,2);
INSERT INTO topology_switch(topology,switch,name,lid,level,index_in_level,n_down_ports,n_up_ports) VALUES(1,2,'1.0',7,1,0,2,0);
INSERT INTO topology_switch(topology,switch,name,lid,level,index_in_level,n_down_ports,n_up_ports) VALUES(1,3,'1.1',8,1,1,2,0);
INSERT INTO topology_link(topology,link,kind,from_node,from_switch,from_port,from_number,to_node,to_switch,to_port,to_number,reverse,bytes_per_s,latency_ps) VALUES(1,0,'injection',0,NULL,0,0,NULL,0,0,0,1,400000000,35000);
INSERT INTO topology_link(topology,link,kind,from_node,from_switch,from_port,from_number,to_node,to_switch,to_port,to_number,reverse,bytes_per_s,latency_ps) VALUES(1,1,'ejection',NULL,0,0,0,0,NULL,0,0,0,400000000,35000);
INSERT INTO topology_link(topology,link,kind,from_node,from_switch,from_port,from_number,to_node,to_switch,to_port,to_number,reverse,bytes_per_s,latency_ps) VALUES(1,2,'injection',1,NULL,0,0,NULL,0,1,1,3,400000000,35000);
INSERT INTO topology_link(topology,link,kind,from_node,from_switch,from_port,from_number,to_node,to_switch,to_port,to_number,reverse,bytes_per_s,latency_ps) VALUES(1,3,'ejection',NULL,0,1,1,1,NULL,0,0,2,400000000,35000);
INSERT INTO topology_link(topology,link,kind,from_node,from_switch,from_port,from_number,to_node,to_switch,to_port,to_number,reverse,bytes_per_s,latency_ps) VALUES(1,4,'injection',2,NULL,0,0,NULL,1,0,0,5,400000000,35000);
INSERT INTO topology_link(topology,link,kind,from_node,from_switch,from_port,from_number,to_node,to_switch,to_port,to_number,reverse,bytes_per_s,latency_ps) VALUES(1,5,'ejection',NULL,1,0,0,2,NULL,0,0,4,400000000,35000);
INSERT INTO topology_link(topology,link,kind,from_node,from_switch,from_port,from_number,to_node,to_switch,to_port,to_number,reverse,bytes_per_s,latency_ps) VALUES(1,6,'injection',3,NULL,0,0,NULL,1,1,1,7,400000000,35000);
INSERT INTO topology_link(topology,link,kind,from_node,from_switch,from_port,from_number,to_node,to_switch,to_port,to_number,reverse,bytes_per_s,latency_ps) VALUES(1,7,'ejection',NULL,1,1,1,3,NULL,0,0,6,400000000,35000);
INSERT INTO topology_link(topology,link,kind,from_node,from_switch,from_port,from_number,to_node,to_switch,to_port,to_number,reverse,bytes_per_s,latency_ps) VALUES(1,8,'up',NULL,0,2,2,NULL,2,0,0,9,400000000,35000);
INSERT INTO topology_link(topology,link,kind,from_node,from_switch,from_port,from_number,to_node,to_switch,to_port,to_number,reverse,bytes_per_s,latency_ps) VALUES(1,9,'down',NULL,2,0,0,NULL,0,2,2,8,400000000,35000);
INSERT INTO topology_link(topology,link,kind,from_node,from_switch,from_port,from_number,to_node,to_switch,to_port,to_number,reverse,bytes_per_s,latency_ps) VALUES(1,10,'up',NULL,0,3,3,NULL,3,0,0,11,400000000,35000);
INSERT INTO topology_link(topology,link,kind,from_node,from_switch,from_port,from_number,to_node,to_switch,to_port,to_number,reverse,bytes_per_s,latency_ps) VALUES(1,11,'down',NULL,3,0,0,NULL,0,3,3,10,400000000,35000);
INSERT INTO topology_link(topology,link,kind,from_node,from_switch,from_port,from_number,to_node,to_switch,to_port,to_number,reverse,bytes_per_s,latency_ps) VALUES(1,12,'up',NULL,1,2,2,NULL,2,1,1,13,400000000,35000);
INSERT INTO topology_link(topology,link,kind,from_node,from_switch,from_port,from_number,to_node,to_switch,to_port,to_number,reverse,bytes_per_s,latency_ps) VALUES(1,13,'down',NULL,2,1,1,NULL,1,2,2,12,400000000,35000);
INSERT INTO topology_link(topology,link,kind,from_node,from_switch,from_port,from_number,to_node,to_switch,to_port,to_number,reverse,bytes_per_s,latency_ps) VALUES(1,14,'up',NULL,1,3,3,NULL,3,1,1,15,400000000,35000);
INSERT INTO topology_link(topology,link,kind,from_node,from_switch,from_port,from_number,to_node,to_switch,to_port,to_number,reverse,bytes_per_s,latency_ps) VALUES(1,15,'down',NULL,3,1,1,NULL,1,3,3,14,400000000,35000);
INSERT INTO job(run,job,name) VALUES(1,0,'melt');
INSERT INTO job(run,job,name) VALUES(1,1,'io');
INSERT INTO note(run,note,job,text) VALUES(1,0,1,'2 <sends> without receive were left out');
INSERT INTO note(run,note,job,text) VALUES(1,1,NULL,'1 cable is seen from one side only');
INSERT INTO link_pack(run,bin,pack,links) VALUES(1,0,0,'[[0,1418561,0,1830713,14735000,5862,16,2,1063561],[1,0,1418561,1992152,12125000,4850,13],[2,0,0,2427152,14218561,5687,16],[3,0,0,1752152,14773561,5909,16],[4,1258561,0,1992152,14653561,5836,16,2,903561],[5,0,1258561,1752152,12125000,4850,13],[6,0,0,2187152,14378561,5751,16],[7,0,0,1992152,14613561,5845,16],[8,0,1380000,5862148,7563561,3025,9],[9,1380000,0,4990709,6310000,2524,7,1,1380000],[10,0,243561,4257141,6615000,2646,7],[11,243561,0,5218580,8018561,3073,9,1,243561],[12,0,83561,4725709,6615000,2646,7],[13,83561,0,5527148,7858561,3009,9,1,83561],[14,0,1380000,5553580,7723561,3089,9],[15,1380000,0,4522141,6310000,2524,7,1,1380000]]');
INSERT INTO link_pack(run,bin,pack,links) VALUES(1,1,0,'[[0,19441439,0,7200000,12800000,3780,10,10,1890000],[1,0,19441439],[2,0,0,9968561,10031439,4013,10],[3,0,0,0,20000000,8000,21],[4,19601439,0,7118561,12881439,3806,10,10,1890000],[5,0,19601439],[6,0,0,10128561,9871439,3949,10],[7,0,0,0,20000000,8000,21],[8,0,9450000,14653561,5346439,2139,5],[9,9450000,0,12960000,7040000,2012,5,5,1890000],[10,0,10550000,15275000,4725000,1890,5],[11,10550000,0,13243561,6756439,2033,5,5,1890000],[12,0,10550000,15275000,4725000,1890,5],[13,10550000,0,13083561,6916439,2097,5,5,1890000],[14,0,9450000,14813561,5186439,2075,5],[15,9450000,0,12960000,7040000,2012,5,5,1890000]]');
INSERT INTO link_pack(run,bin,pack,links) VALUES(1,2,0,'[[0,0,0,7286439,11142132,4124,11],[2,0,0,8657155,9771416,3743,10],[3,0,0,515000,1601439,641,2],[4,15705006,0,5836439,12592132,3740,10,9,2043574],[5,0,15705006,0,16392132,6556,18],[6,15032845,0,6926439,11502132,3662,11,9,1890000],[7,0,15032845,515000,18938571,7575,21],[8,0,0,8786439,10462132,4050,11],[9,0,0,506439],[10,0,546439,7756439,9182132,3672,10],[11,546439,0,1436439,640000,58,0,0,1890000],[12,0,13572151,466439],[13,13572151,0,7403587,11844984,3970,11,9,1963577],[14,0,14442829,2036439],[15,14442829,0,5421439,11517132,3534,10,10,1730000]]');
INSERT INTO link_pack(run,bin,pack,links) VALUES(1,3,0,'[[0,0,0,9499293,8929278,3410,9],[2,0,0,6697148,11731423,4693,13],[3,0,0,2097864,8568552,3427,10],[4,15348583,0,6025703,12402868,3692,10,9,2335003],[5,0,15348583,1724293,16704278,6682,18],[6,5697868,0,5017864,13156420,4663,12,3,1890000],[7,0,5697868,739293,18314278,7326,19],[8,0,0,7146435,11907136,4763,13],[9,0,0,2732858,3780000,1512,4],[10,0,0,10069293,8249278,3300,9],[11,0,0,3072145,4828552,1931,6],[12,0,7697136,2732858,3780000,1512,4],[13,7697136,0,5091435,13962136,4885,13,5,1890000],[14,0,11877174,3072145,4868552,1947,6],[15,11877174,0,7084293,11234278,3422,9,6,2016432]]');
INSERT INTO link_pack(run,bin,pack,links) VALUES(1,4,0,'[[0,0,0,8975014,9453557,3658,10],[1,0,0,1905004,11007114,4402,12],[2,0,0,2557150,15283590,6114,16],[3,0,0,2019290,7103560,2841,7],[4,11900723,0,7039287,10820000,3460,9,6,2470000],[5,0,11900723,2432150,15403590,6162,16],[6,0,0,4062834,13831448,5533,14],[7,0,0,1359295,13008590,5204,14],[8,0,3215687,7899300,10400732,4161,11],[9,3215687,0,3265000,7522114,2889,8,2,1658573],[10,0,1867829,7259306,10758590,4304,11],[11,1867829,0,3712114,9216448,3553,9,3,837114],[12,0,5784314,3267114,7560000,3024,8],[13,5784314,0,6151444,12188588,4177,11,3,2264288],[14,0,4735006,3803573,9124989,3650,9],[15,4735006,0,6924306,11133590,4320,11,3,2285716]]');
INSERT INTO link_pack(run,bin,pack,links) VALUES(1,5,0,'[[0,2837143,0,4282153,13317844,4899,13,3,2100001],[1,0,2837143,1620722,16742131,6697,18],[2,0,0,1632152,12125000,4850,13],[3,0,0,1649293,17522133,7009,19],[4,0,0,5333609,13094962,5189,14],[5,0,0,1632152,12125000,4850,13],[6,0,0,6586470,11842101,4479,13],[7,0,0,0,3589244,1435,4],[8,0,6420751,4245715,7560000,3024,8],[9,6420751,0,5250011,13721417,4824,13,4,1912145],[10,0,8703610,4120000,8234244,3293,9],[11,8703610,0,5462183,14512102,4939,13,5,2285716],[12,0,0,7141465,11829963,4731,13],[13,0,0,4245715,7560000,3024,8],[14,0,0,7719291,12254994,4868,13],[15,0,0,4120000,8194244,3277,9]]');
INSERT INTO link_pack(run,bin,pack,links) VALUES(1,6,0,'[[0,0,0,2313577,8415756,3367,9],[1,0,0,1335009,8625755,3451,9],[3,0,0,515000,3180755,1273,3],[4,0,0,1400727,8440037,3377,9],[6,0,0,919285,2656470,1063,2],[7,0,0,2313577,8535756,3415,9],[8,0,0,3236432,4565000,1826,5],[9,0,0,2493580,5910755,2365,6],[10,0,0,3503576,3890756,1557,4],[11,0,0,3542152,5652180,2237,6],[12,0,0,2559298,5805037,2323,6],[13,0,0,3236432,4565000,1826,5],[14,0,0,3669295,5485037,2195,6],[15,0,0,3503576,3930756,1573,4]]');
INSERT INTO bin_total(run,bin,came_by_ps,wait_for_ps,stall_ps,busy_ps,bytes,packets,blocked,longest_wait_ps) VALUES(1,0,5764244,5764244,56582933,168637049,67126,186,8,1380000);
INSERT INTO bin_total(run,bin,came_by_ps,wait_for_ps,stall_ps,busy_ps,bytes,packets,blocked,longest_wait_ps) VALUES(1,1,79042878,79042878,146679927,133320073,47696,122,40,1890000);
INSERT INTO bin_total(run,bin,came_by_ps,wait_for_ps,stall_ps,busy_ps,bytes,packets,blocked,longest_wait_ps) VALUES(1,2,59299270,59299270,63550132,125586334,45325,125,37,2043574);
INSERT INTO bin_total(run,bin,came_by_ps,wait_for_ps,stall_ps,busy_ps,bytes,packets,blocked,longest_wait_ps) VALUES(1,3,40620761,40620761,72802920,152417029,57165,155,23,2335003);
INSERT INTO bin_total(run,bin,came_by_ps,wait_for_ps,stall_ps,busy_ps,bytes,packets,blocked,longest_wait_ps) VALUES(1,4,27503559,27503559,72632181,173816500,67452,176,17,2470000);
INSERT INTO bin_total(run,bin,came_by_ps,wait_for_ps,stall_ps,busy_ps,bytes,packets,blocked,longest_wait_ps) VALUES(1,5,17961504,17961504,65040931,184225379,71388,193,12,2285716);
INSERT INTO bin_total(run,bin,came_by_ps,wait_for_ps,stall_ps,busy_ps,bytes,packets,blocked,longest_wait_ps) VALUES(1,6,0,0,34541516,79659050,31848,83,0,0);
INSERT INTO total_pack(run,pack,links) VALUES(1,0,'[[0,23697143,0,41387189,78793567,29100,78,15,2100001],[1,0,23697143,6852887,48500000,19400,52],[2,0,0,31939318,73161429,29100,78],[3,0,0,8548599,72750000,29100,78],[4,63814312,0,34746478,84884999,29100,78,36,2470000],[5,0,63814312,7540747,72750000,29100,78],[6,20730713,0,35828605,77238571,29100,78,12,1890000],[7,0,20730713,6919317,97000000,38800,104],[8,0,20466438,51830030,57805000,22988,62],[9,20466438,0,32198597,44284286,16126,43,12,1912145],[10,0,21911439,52240755,51655000,20662,55],[11,21911439,0,35687174,49624282,17824,48,14,2285716],[12,0,37687162,36167883,40315000,16126,43],[13,37687162,0,44739322,64895708,22988,62,23,2264288],[14,0,41885009,40667884,44643572,17824,48],[15,41885009,0,44535755,59360000,20662,55,25,2285716]]');
INSERT INTO flow_pack(run,job,source,destination,flows) VALUES(1,0,0,1,'[[0,1,3,39,12288,64234310,4862148,54272162,26268572,39685716,23697143,24565715,0,0],[0,3,3,39,12288,72597884,6893042,60604842,28933589,39925716,36702881,43127886,0,0],[2,0,3,39,12288,54878604,2463222,47315382,21830009,39925716,9024294,7937865,0,0],[2,3,3,39,12288,80442161,8914111,66428050,27200017,39685716,63814312,57389307,0,0]]');
INSERT INTO flow_pack(run,job,source,destination,flows) VALUES(1,1,1,2,'[[1,2,4,52,16384,76771460,4184293,65787167,26893572,53234288,20699290,20699290,0,0],[1,3,2,26,8192,43750725,3433395,36917330,27053572,26617144,22170000,22170000,0,0],[3,0,1,13,4096,22260014,1812860,18747154,22260014,13308572,5998578,7085007,0,0],[3,1,3,39,12288,63944303,4729646,54114657,27053572,39925716,27355005,26486433,0,0],[3,2,2,26,8192,42885725,3257145,36228580,26268572,26457144,20730713,20730713,0,0]]');
-- Who waited for whom. Each wait has the link by which the header came in as its root, and lies in
-- the one slice of time.
INSERT INTO blame_wait VALUES
(1,0,0,0,1,0,0,1,15,23697143,0),
(1,4,0,2,3,0,0,3,20,36367879,0),
(1,4,0,2,3,0,2,3,16,27446433,0),
(1,6,1,3,2,1,3,2,12,20730713,0),
(1,9,0,2,0,0,2,0,2,3372860,0),
(1,9,1,3,0,1,3,0,2,3768576,0),
(1,9,1,3,1,1,3,1,8,13325002,0),
(1,11,0,2,0,0,2,0,2,4565005,0),
(1,11,0,2,0,1,3,0,2,1086429,0),
(1,11,1,3,0,1,3,0,2,2230002,0),
(1,11,1,3,1,0,0,1,1,868572,0),
(1,11,1,3,1,1,3,1,7,13161431,0),
(1,13,0,0,3,0,0,3,3,4474291,0),
(1,13,0,0,3,0,2,3,8,10757859,0),
(1,13,1,1,2,1,1,2,6,11115012,0),
(1,13,1,1,3,1,1,3,6,11340000,0),
(1,15,0,0,3,0,0,3,1,2285716,0),
(1,15,0,0,3,0,2,3,12,19185015,0),
(1,15,1,1,2,1,1,2,6,9584278,0),
(1,15,1,1,3,1,1,3,6,10830000,0);
INSERT INTO root_total SELECT run, link, sum(waits), sum(wait_ps) FROM blame_wait GROUP BY link;
INSERT INTO root_bin SELECT run, 0, root, wait_ps FROM root_total;
INSERT INTO tree_bin SELECT run, 0, root, root, wait_ps, 0 FROM root_total;
INSERT INTO root_job SELECT run, link, victim_job, sum(waits), sum(wait_ps) FROM blame_wait
  GROUP BY link, victim_job;
INSERT INTO job_wait SELECT run, 0, victim_job, culprit_job, sum(waits), sum(wait_ps) FROM blame_wait
  GROUP BY victim_job, culprit_job;
INSERT INTO job_link SELECT run, link, job, sum(wait_ps), sum(blamed_ps) FROM (
  SELECT run, link, victim_job AS job, wait_ps, 0 AS blamed_ps FROM blame_wait UNION ALL
  SELECT run, link, culprit_job, 0, wait_ps FROM blame_wait) GROUP BY link, job;
INSERT INTO blame_bin SELECT run, 0, victim_job, victim_source, victim_destination, culprit_job,
  culprit_source, culprit_destination, sum(wait_ps), 0 FROM blame_wait GROUP BY 3, 4, 5, 6, 7, 8;
INSERT INTO blame_group SELECT run, 'destination', victim_destination, culprit_destination,
  sum(waits), sum(wait_ps), 0 FROM blame_wait GROUP BY 3, 4;
INSERT INTO blame_group SELECT run, 'destination leaf', victim_destination / 2,
  culprit_destination / 2, sum(waits), sum(wait_ps), 0 FROM blame_wait GROUP BY 3, 4;
INSERT INTO blame_group SELECT run, 'source leaf', victim_source / 2, culprit_source / 2, sum(waits),
  sum(wait_ps), 0 FROM blame_wait GROUP BY 3, 4;
INSERT INTO blame_list SELECT 1, column1, 0, 0 FROM (VALUES ('blame_wait'), ('blame_bin'),
  ('tree_bin'), ('destination'), ('destination leaf'), ('source leaf'));
INSERT INTO job_total SELECT run, job, count(*), sum(messages), sum(packets), sum(bytes),
  sum(latency_ps), sum(queue_ps), sum(network_ps), max(worst_latency_ps), sum(ideal_ps), sum(wait_ps), sum(blamed_ps),
  min(first_ps), max(last_ps) FROM flow GROUP BY job;
COMMIT;
