-- Versions and aliases of modules are rows of the same tables as those of processes: `process_id` is the id of either.
CREATE TABLE modules (
  id uuid PRIMARY KEY,
  team text COLLATE "C" NOT NULL REFERENCES teams (slug),
  name text COLLATE "C" NOT NULL,
  language text NOT NULL CHECK (language IN ('JAVASCRIPT', 'PYTHON')),
  source_code text NOT NULL,
  imports text[],
  created_by text NOT NULL,
  created_at timestamptz(3) NOT NULL,
  updated_by text,
  updated_at timestamptz(3),
  UNIQUE (team, language, name)
);
CREATE INDEX modules_team_id ON modules (team, id);

-- What a source imports by name: `name`, or `name tag`. NULL where nobody has looked yet, which the service makes up for
-- at its start.
ALTER TABLE processes ADD COLUMN imports text[];
ALTER TABLE versions ADD COLUMN imports text[];
CREATE INDEX versions_team ON versions (team);

-- A parent counts where the operator has granted the pair, or where who named it may act for the parent, too.
ALTER TABLE team_parents ADD COLUMN by_token boolean NOT NULL DEFAULT false;
CREATE VIEW inheritance AS
  SELECT child, parent FROM team_parents
  WHERE by_token OR EXISTS (
    SELECT FROM parent_grants AS granted
    WHERE granted.child = team_parents.child AND granted.parent = team_parents.parent
  );
