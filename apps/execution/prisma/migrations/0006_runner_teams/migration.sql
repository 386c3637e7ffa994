-- Who makes runners on demand learns from any replica whose each is, and since when it has nothing to do.
ALTER TABLE sessions
  ADD COLUMN one_team boolean NOT NULL DEFAULT false,
  -- With one_team: whose it is, once that is decided.
  ADD COLUMN team text,
  ADD COLUMN idle_since timestamptz NOT NULL DEFAULT now();

CREATE INDEX sessions_living ON sessions (pool) WHERE ended_at IS NULL;
