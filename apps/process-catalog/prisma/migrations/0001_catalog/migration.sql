-- Slugs and keys compare by bytes (COLLATE "C"), so that their order is the same on every machine.

CREATE TABLE teams (
  slug text COLLATE "C" PRIMARY KEY,
  name text NOT NULL,
  zone_id text NOT NULL,
  params_schema_validation_enabled boolean NOT NULL DEFAULT false,
  created_at timestamptz(3) NOT NULL DEFAULT now()
);

-- Written by every change of a team: room on each page keeps the updates in place.
CREATE TABLE revisions (
  team text COLLATE "C" PRIMARY KEY REFERENCES teams (slug),
  revision bigint NOT NULL DEFAULT 1
) WITH (fillfactor = 50);

CREATE TABLE team_parents (
  child text COLLATE "C" NOT NULL REFERENCES teams (slug),
  parent text COLLATE "C" NOT NULL REFERENCES teams (slug),
  PRIMARY KEY (child, parent)
);
CREATE INDEX team_parents_parent ON team_parents (parent);

CREATE TABLE parent_grants (
  child text COLLATE "C" NOT NULL REFERENCES teams (slug),
  parent text COLLATE "C" NOT NULL REFERENCES teams (slug),
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (child, parent)
);

CREATE TABLE processes (
  id uuid PRIMARY KEY,
  team text COLLATE "C" NOT NULL REFERENCES teams (slug),
  name text NOT NULL,
  slug text COLLATE "C" NOT NULL,
  description text,
  readme text,
  language text NOT NULL CHECK (language IN ('JAVASCRIPT', 'PYTHON')),
  source_code text NOT NULL,
  parameters_schema text,
  webhook_enabled boolean NOT NULL,
  webhook_username text,
  webhook_password_hash text,
  forms_enabled boolean NOT NULL,
  public_enabled boolean NOT NULL,
  public_token text,
  dependencies_scoped_to_process boolean NOT NULL,
  dependencies_auto_detect boolean NOT NULL,
  dependencies text NOT NULL,
  tags text[] NOT NULL,
  created_by text NOT NULL,
  created_at timestamptz(3) NOT NULL,
  updated_by text,
  updated_at timestamptz(3) NOT NULL,
  CHECK ((webhook_username IS NULL) = (webhook_password_hash IS NULL)),
  UNIQUE (team, slug)
);
CREATE INDEX processes_team_id ON processes (team, id);

-- What is left of a deleted process: the row itself goes in the transaction that writes the tombstone, its executions,
-- versions and aliases go after it. So neither versions nor aliases refer to processes by a foreign key.
CREATE TABLE tombstones (
  process_id uuid PRIMARY KEY,
  team text COLLATE "C" NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT now()
);

CREATE TABLE versions (
  id uuid PRIMARY KEY,
  team text COLLATE "C" NOT NULL,
  process_id uuid NOT NULL,
  tag text COLLATE "C" NOT NULL,
  language text NOT NULL CHECK (language IN ('JAVASCRIPT', 'PYTHON')),
  source_code text NOT NULL,
  parameters_schema text,
  readme text,
  dependencies text NOT NULL,
  comment text,
  created_by text NOT NULL,
  created_at timestamptz(3) NOT NULL,
  UNIQUE (process_id, tag)
);
CREATE INDEX versions_process_id ON versions (process_id, id);

CREATE TABLE aliases (
  id uuid PRIMARY KEY,
  team text COLLATE "C" NOT NULL,
  process_id uuid NOT NULL,
  name text COLLATE "C" NOT NULL,
  version_id uuid NOT NULL REFERENCES versions (id),
  created_by text NOT NULL,
  created_at timestamptz(3) NOT NULL,
  updated_by text,
  updated_at timestamptz(3),
  UNIQUE (process_id, name)
);
CREATE INDEX aliases_process_id ON aliases (process_id, id);
CREATE INDEX aliases_version_id ON aliases (version_id);

CREATE TABLE variables (
  id uuid PRIMARY KEY,
  team text COLLATE "C" NOT NULL REFERENCES teams (slug),
  key text COLLATE "C" NOT NULL,
  ciphertext bytea NOT NULL,
  key_id text NOT NULL,
  is_sensitive boolean NOT NULL,
  created_by text NOT NULL,
  created_at timestamptz(3) NOT NULL,
  updated_by text,
  updated_at timestamptz(3),
  UNIQUE (team, key)
);
CREATE INDEX variables_team_id ON variables (team, id);

CREATE TABLE api_tokens (
  client_id text COLLATE "C" PRIMARY KEY,
  team text COLLATE "C" NOT NULL REFERENCES teams (slug),
  name text,
  secret_hash bytea NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  revoked_at timestamptz(3)
);
CREATE INDEX api_tokens_team ON api_tokens (team);

CREATE TABLE signing_keys (
  kid text COLLATE "C" PRIMARY KEY,
  public_key text NOT NULL,
  ciphertext bytea NOT NULL,
  key_id text NOT NULL,
  token_ttl_s integer NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  verifiable_until timestamptz(3)
);
-- One key signs: a second first start, or a second rotation at once, finds it there.
CREATE UNIQUE INDEX signing_keys_current ON signing_keys ((true)) WHERE verifiable_until IS NULL;
