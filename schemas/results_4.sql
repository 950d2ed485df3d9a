-- The results store, version 4: waits by level, and how congestion trees grow and dissolve.
--
-- This file is migration 4 of analyze/sql.c.
PRAGMA user_version = 4;

-- Headers that waited at the switches of a level in a time bin (as link_bin, summed).
CREATE TABLE level_bin (
  run INTEGER NOT NULL REFERENCES run,
  bin INTEGER NOT NULL,
  level INTEGER NOT NULL,
  wait_ps INTEGER NOT NULL,
  PRIMARY KEY (run, bin, level)
) STRICT, WITHOUT ROWID;

-- The width of tree_bin's slices; 0 when there are none.
ALTER TABLE run ADD COLUMN tree_bin_ps INTEGER NOT NULL DEFAULT 0;

-- What headers that had come in by a link waited in a slice of time, by the root that they waited
-- for in the end. Slice b covers [b * tree_bin_ps, (b + 1) * tree_bin_ps). In a busy network the
-- lesser waits are told together: their root and link are -1. All rows together are the run's wait.
CREATE TABLE tree_bin (
  run INTEGER NOT NULL REFERENCES run,
  bin INTEGER NOT NULL,
  root INTEGER NOT NULL, -- link
  link INTEGER NOT NULL,
  wait_ps INTEGER NOT NULL,
  PRIMARY KEY (run, bin, root, link)
) STRICT, WITHOUT ROWID;

-- Congestion trees over time: how much each root held up, and over how many links it reached.
CREATE VIEW congestion_trees (run, from_us, to_us, root, wait_us, links) AS
SELECT t.run, round(t.bin * r.tree_bin_ps / 1e6, 3), round((t.bin + 1) * r.tree_bin_ps / 1e6, 3),
  coalesce(n.name, 'various'), round(sum(t.wait_ps) / 1e6, 3), count(*)
FROM tree_bin AS t JOIN run AS r USING (run)
LEFT JOIN link_name AS n ON n.run = t.run AND n.link = t.root
GROUP BY t.run, t.bin, t.root
ORDER BY t.run DESC, t.bin, sum(t.wait_ps) DESC, t.root;
