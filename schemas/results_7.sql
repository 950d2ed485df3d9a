-- The results store, version 7: messages that take turns, and nodes with many partners.
--
-- This file is migration 7 of analyze/sql.c.
PRAGMA user_version = 7;

-- Payload that a message sends before it is the next one's turn; 0: sent to its end.
ALTER TABLE run ADD COLUMN slice_bytes INTEGER NOT NULL DEFAULT 0;
-- Partners beyond which a node's acknowledgements leave it later, and by how much; 0: no limit.
ALTER TABLE run ADD COLUMN partners INTEGER NOT NULL DEFAULT 0;
ALTER TABLE run ADD COLUMN partner_delay_ps INTEGER NOT NULL DEFAULT 0;
