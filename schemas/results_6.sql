-- The results store, version 6: networks of several rails, and what the hosts did.
--
-- Rail i is a network of its own, joined to network interface i of every node. Switches and links
-- are of one rail; nodes, flows and blame know nothing of rails.
--
-- This file is migration 6 of analyze/sql.c.
PRAGMA user_version = 6;

ALTER TABLE run ADD COLUMN rails INTEGER NOT NULL DEFAULT 1;
-- The hosts' library and its parameters, as `-n` takes them; '' when hosts did nothing.
ALTER TABLE run ADD COLUMN library TEXT NOT NULL DEFAULT '';

ALTER TABLE switch ADD COLUMN rail INTEGER NOT NULL DEFAULT 0; -- index_in_level is within its rail

-- Switches as people name them: "2.13" (level.index), where there are several rails "r1/2.13".
CREATE VIEW switch_name (run, switch, name) AS
SELECT t.run, t.switch,
  iif(r.rails > 1, 'r' || t.rail || '/', '') || t.level || '.' || t.index_in_level
FROM switch AS t JOIN run AS r USING (run);

-- Links as people name them: "node 5 > 0.1", "0.1:4 > 1.0:1" (switch:port), "0.1 > node 5".
DROP VIEW link_name;
CREATE VIEW link_name (run, link, kind, name) AS
SELECT l.run, l.link, l.kind,
  CASE l.kind
    WHEN 'injection' THEN printf('node %d > %s', l.from_node, t.name)
    WHEN 'ejection' THEN printf('%s > node %d', f.name, l.to_node)
    ELSE printf('%s:%d > %s:%d', f.name, l.from_port, t.name, l.to_port)
  END
FROM link AS l
LEFT JOIN switch_name AS f ON f.run = l.run AND f.switch = l.from_switch
LEFT JOIN switch_name AS t ON t.run = l.run AND t.switch = l.to_switch;

-- The congestion matrix: a row per number of a block, and per block its sum (side 'switch').
-- Percentages of the most loaded link and of the most loaded switch.
DROP VIEW congestion_matrix;
CREATE VIEW congestion_matrix (run, level, switch, side, port, link, wait_us, percent) AS
WITH cell AS (
  SELECT l.run, t.level, t.switch, l.to_port AS port, l.link, coalesce(s.wait_ps, 0) AS wait_ps,
    CASE WHEN l.to_port < t.n_down_ports THEN 'below' ELSE 'above' END AS side
  FROM link AS l
  JOIN switch AS t ON t.run = l.run AND t.switch = l.to_switch
  LEFT JOIN link_sum AS s ON s.run = l.run AND s.link = l.link
), number AS (
  SELECT run, switch, side, port, link, wait_ps FROM cell
  UNION ALL
  SELECT run, switch, 'switch', NULL, NULL, sum(wait_ps) FROM cell GROUP BY run, switch
)
SELECT n.run, t.level, w.name, n.side, n.port, n.link, round(n.wait_ps / 1e6, 3),
  coalesce(round(100.0 * n.wait_ps
    / nullif(max(n.wait_ps) OVER (PARTITION BY n.run, n.side = 'switch'), 0), 1), 0)
FROM number AS n
JOIN switch AS t ON t.run = n.run AND t.switch = n.switch
JOIN switch_name AS w ON w.run = n.run AND w.switch = n.switch
ORDER BY n.run DESC, t.level DESC, t.rail, t.index_in_level,
  CASE n.side WHEN 'above' THEN 0 WHEN 'switch' THEN 1 ELSE 2 END, n.port;

-- Switches by the wait of the headers that came in.
DROP VIEW switch_wait;
CREATE VIEW switch_wait (run, switch, level, wait_us, percent_of_top, packets, blocked) AS
SELECT t.run, w.name, t.level,
  round(sum(coalesce(s.wait_ps, 0)) / 1e6, 3),
  coalesce(round(100.0 * sum(coalesce(s.wait_ps, 0))
    / nullif(max(sum(coalesce(s.wait_ps, 0))) OVER (PARTITION BY t.run), 0), 1), 0),
  sum(coalesce(s.packets, 0)), sum(coalesce(s.blocked, 0))
FROM switch AS t
JOIN switch_name AS w ON w.run = t.run AND w.switch = t.switch
LEFT JOIN link AS l ON l.run = t.run AND l.to_switch = t.switch
LEFT JOIN link_sum AS s ON s.run = l.run AND s.link = l.link
GROUP BY t.run, t.switch
ORDER BY t.run DESC, sum(coalesce(s.wait_ps, 0)) DESC, t.switch;

-- What was dead, by name.
DROP VIEW faults;
CREATE VIEW faults (run, what, at_us) AS
SELECT f.run,
  coalesce('link ' || n.name, 'switch ' || s.name),
  round(f.at_ps / 1e6, 3)
FROM fault AS f
LEFT JOIN link_name AS n ON n.run = f.run AND n.link = f.link
LEFT JOIN switch_name AS s ON s.run = f.run AND s.switch = f.switch
ORDER BY f.run DESC, f.at_ps, f.fault;
