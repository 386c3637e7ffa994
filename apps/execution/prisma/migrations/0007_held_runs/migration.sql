-- Of a QUEUED run: it waits for packages that are being installed, and no runner may have it yet.
ALTER TABLE executions ADD COLUMN held boolean NOT NULL DEFAULT false;
CREATE INDEX executions_held ON executions (team, process_id, id) WHERE status = 2 AND held;
