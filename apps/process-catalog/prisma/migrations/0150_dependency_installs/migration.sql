-- Installs of a team's own packages, the newest of each language. Manifests are JSON text: name to version specifier, in
-- `resolved` name to version.
CREATE TABLE dependency_installs (
  -- Names the set of packages that it made.
  id uuid PRIMARY KEY,
  team text COLLATE "C" NOT NULL,
  language text NOT NULL CHECK (language IN ('JAVASCRIPT', 'PYTHON')),
  status text NOT NULL CHECK (status IN ('INSTALLING', 'INSTALLED', 'FAILED')),
  requested text NOT NULL,
  resolved text NOT NULL DEFAULT '{}',
  -- Of the packed set.
  digest text,
  error text,
  execution_id uuid,
  started_at timestamptz(3) NOT NULL,
  ended_at timestamptz(3)
);
CREATE INDEX dependency_installs_of_team ON dependency_installs (team, language, id);
-- Those of which nothing is known yet.
CREATE INDEX dependency_installs_open ON dependency_installs (id) WHERE status = 'INSTALLING';

-- What runs see now can be gone back to.
INSERT INTO dependency_installs (id, team, language, status, requested, digest, started_at, ended_at)
SELECT set_key, team, language, 'INSTALLED', installed, digest, updated_at, updated_at FROM dependency_manifests
 WHERE process_id IS NULL AND set_key IS NOT NULL
ON CONFLICT DO NOTHING;
