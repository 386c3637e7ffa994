-- What the scheduler is still to be told of: written with the change, gone when it has heard of it. One row for each
-- subject, for only the last change counts.
CREATE TABLE effects (
  team text COLLATE "C" NOT NULL REFERENCES teams (slug),
  -- `zone`, or the id of a process.
  subject text COLLATE "C" NOT NULL,
  -- The team's zone, or the name of the process.
  value text NOT NULL,
  -- The team's, of the transaction that made the change.
  revision bigint NOT NULL,
  PRIMARY KEY (team, subject)
);

-- The process's executions are killed and hidden, while its schedules are not deleted yet.
ALTER TABLE tombstones ADD COLUMN hidden boolean NOT NULL DEFAULT false;
