-- Pools of one team each, beside those that the settings name for all teams.
CREATE TABLE team_pools (
  name text PRIMARY KEY,
  team text NOT NULL,
  -- What each of its runners has to say of itself.
  labels jsonb NOT NULL DEFAULT '{}',
  created_by text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now()
);

-- By which runners of other networks join them.
CREATE TABLE pool_tokens (
  id uuid PRIMARY KEY,
  pool text NOT NULL REFERENCES team_pools (name) ON DELETE CASCADE,
  -- SHA-256 of the token, which is kept nowhere.
  hash bytea NOT NULL UNIQUE,
  created_by text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz,
  revoked_at timestamptz,
  last_used_at timestamptz
);
CREATE INDEX pool_tokens_pool ON pool_tokens (pool);

ALTER TABLE sessions
  ADD COLUMN labels jsonb NOT NULL DEFAULT '{}',
  -- Of a runner that came with one: the session lives no longer than the token.
  ADD COLUMN token_id uuid;
