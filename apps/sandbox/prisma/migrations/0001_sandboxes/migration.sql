-- Statuses are the numbers of the proto enum. A row is there before anything is asked of a driver.

CREATE TABLE sandboxes (
  -- Holds the time of creation, in ms.
  id uuid PRIMARY KEY,
  team text NOT NULL,
  name text NOT NULL,
  image_id text NOT NULL,
  -- JSON text.
  metadata text NOT NULL,
  public_http_ports integer[] NOT NULL,
  -- What the public ports ask for; never a password.
  auth_username text,
  auth_password_hash text,
  status smallint NOT NULL CHECK (status BETWEEN 1 AND 5),
  reason text,
  driver text NOT NULL,
  -- Where its daemon answers, once it does.
  daemon_address text,
  -- Of the key of its users, which is found by its id and compared by this.
  api_key_digest bytea NOT NULL,
  -- Both keys, sealed.
  api_key bytea NOT NULL,
  daemon_key bytea NOT NULL,
  key_id text NOT NULL,
  timeout_at timestamptz NOT NULL,
  created_by text NOT NULL,
  created_at timestamptz NOT NULL,
  ended_at timestamptz,
  CHECK ((status > 2) = (ended_at IS NOT NULL)),
  CHECK ((auth_username IS NULL) = (auth_password_hash IS NULL))
);

CREATE INDEX sandboxes_of_team ON sandboxes (team, id DESC);
CREATE INDEX sandboxes_active ON sandboxes (team) WHERE status <= 2;
CREATE INDEX sandboxes_due ON sandboxes (timeout_at) WHERE status <= 2;
CREATE INDEX sandboxes_ended ON sandboxes (ended_at) WHERE status > 2;
