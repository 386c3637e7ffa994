-- Manifests as JSON text: name to version specifier. A row belongs to a process, or to the team where that is absent.
CREATE TABLE dependency_manifests (
  id uuid PRIMARY KEY,
  team text COLLATE "C" NOT NULL REFERENCES teams (slug),
  language text NOT NULL CHECK (language IN ('JAVASCRIPT', 'PYTHON')),
  process_id uuid,
  installed text NOT NULL DEFAULT '{}',
  -- What runs are shown: the install that made it, and the digest of its archive.
  set_key uuid,
  digest text,
  staged text,
  status text CHECK (status IN ('PENDING', 'INSTALLING', 'FAILED')),
  error text,
  -- Found in sources, to be installed beside what is installed.
  detected text,
  -- The install under way; it is a run once it has an execution.
  install_id uuid,
  installing text,
  by_itself boolean NOT NULL DEFAULT false,
  execution_id uuid,
  updated_at timestamptz(3) NOT NULL,
  CHECK ((staged IS NULL) = (status IS NULL)),
  CHECK ((install_id IS NULL) = (installing IS NULL)),
  UNIQUE NULLS NOT DISTINCT (team, language, process_id)
);
CREATE INDEX dependency_manifests_due ON dependency_manifests (id)
  WHERE install_id IS NOT NULL OR status = 'INSTALLING' OR detected IS NOT NULL;

-- What runs of the current source wait for (names, as a JSON array), and why it came to nothing.
ALTER TABLE processes ADD COLUMN awaited_dependencies text, ADD COLUMN dependencies_error text;
