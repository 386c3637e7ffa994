-- What single teams may have, in place of what the settings say for all. A row whose value was taken back stays, so that the
-- highest `changed` tells whether anything is new.
CREATE TABLE team_limits (
  team text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,
  value bigint,
  changed bigint NOT NULL,
  PRIMARY KEY (team, name)
);

-- The gateways that share calls a second of teams; none where no team has such a limit.
CREATE TABLE gateways (
  id uuid PRIMARY KEY,
  seen_at timestamptz NOT NULL
);
