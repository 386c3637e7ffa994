-- Calls that use the process of a code now, so that none removes it under another one.
CREATE TABLE process_uses (
  id uuid PRIMARY KEY,
  team text COLLATE "C" NOT NULL,
  process_id uuid NOT NULL,
  -- The process is to go when this use ends.
  removes boolean NOT NULL,
  -- Then somebody looks whether it has ended.
  until timestamptz(3) NOT NULL
);
CREATE INDEX process_uses_process_id ON process_uses (process_id);
CREATE INDEX process_uses_until ON process_uses (until);
