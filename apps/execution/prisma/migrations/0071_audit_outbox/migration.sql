-- What was done here and by whom, until the catalog has it. The id is a UUIDv7 and holds the time; types are the numbers of
-- the proto enum.
CREATE TABLE audit_outbox (
  id uuid PRIMARY KEY,
  team text NOT NULL,
  type smallint NOT NULL,
  event text NOT NULL,
  entity_id text NOT NULL,
  actor text NOT NULL,
  initiated_by text,
  ip text
);

-- Set by a rerun: the execution that it repeats.
ALTER TABLE executions ADD COLUMN rerun_of uuid;
