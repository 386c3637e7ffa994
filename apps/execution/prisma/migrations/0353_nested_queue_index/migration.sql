-- What runs have called and wait for, the deepest first. Days that are there get it later, without holding up runs.
CREATE INDEX executions_queued_nested ON ONLY executions (team, pool, depth DESC, id)
  WHERE tracked AND session_id IS NULL AND depth > 0;
