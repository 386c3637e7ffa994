-- Sources that processes and modules had before edits, for those who look what runs of then have run. No run reads them.
CREATE TABLE former_sources (
  id uuid PRIMARY KEY,
  team text COLLATE "C" NOT NULL,
  owner_id uuid NOT NULL,
  source_code text NOT NULL,
  imports text[],
  -- When it was replaced.
  until timestamptz(3) NOT NULL
);
CREATE INDEX former_sources_owner_id_until ON former_sources (owner_id, until);
CREATE INDEX former_sources_team ON former_sources (team);
CREATE INDEX former_sources_until ON former_sources (until);
