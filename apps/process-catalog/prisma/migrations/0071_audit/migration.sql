-- Who did what, of all services. Partitioned by month on the UUIDv7 itself, which holds the time; the service makes the
-- partitions, and drops those past retention. Types are the numbers of the proto enum. Rows outlive their teams' things.
CREATE TABLE audit_records (
  team text COLLATE "C" NOT NULL,
  id uuid NOT NULL,
  type smallint NOT NULL,
  event text NOT NULL,
  entity_id text COLLATE "C" NOT NULL,
  actor text NOT NULL,
  initiated_by text,
  ip text,
  PRIMARY KEY (team, id)
) PARTITION BY RANGE (id);

CREATE INDEX audit_records_entity ON audit_records (team, entity_id, id);
-- Nearly all records are of executions (3): those are found soon by the team.
CREATE INDEX audit_records_type ON audit_records (team, type, id) WHERE type <> 3;
