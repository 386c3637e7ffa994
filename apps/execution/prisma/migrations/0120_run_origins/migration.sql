-- Where a run comes from, as the proto enum Origin counts; of those from before it is told from what else they have.
ALTER TABLE executions
  ADD COLUMN origin smallint,
  -- A run of what is not saved.
  ADD COLUMN trial boolean NOT NULL DEFAULT false,
  -- What its start named: a version id, a tag or an alias; none for the current source.
  ADD COLUMN tag text;
