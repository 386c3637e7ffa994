-- What an operator sees of each runner, as it says itself, and whether one has asked it to end once its runs have.
ALTER TABLE sessions
  ADD COLUMN version text NOT NULL DEFAULT '',
  ADD COLUMN languages text[] NOT NULL DEFAULT '{}',
  -- With one_team: why it serves no more.
  ADD COLUMN remedy text NOT NULL DEFAULT '',
  -- Whether it can end by itself; one within a larger program can't.
  ADD COLUMN can_drain boolean NOT NULL DEFAULT false,
  -- It was made on demand.
  ADD COLUMN retires boolean NOT NULL DEFAULT false,
  -- Addresses of the replicas that it has a stream to.
  ADD COLUMN replicas text[] NOT NULL DEFAULT '{}',
  ADD COLUMN renewed_at timestamptz NOT NULL DEFAULT now(),
  ADD COLUMN drain_asked_at timestamptz;
