-- Sessions of people at the console, by the SHA-256 of their ids, and the codes that open one each.
CREATE TABLE console_sessions (
  id_hash bytea PRIMARY KEY,
  -- What audit records name it by; it opens nothing.
  id uuid NOT NULL UNIQUE,
  subject text NOT NULL,
  name text NOT NULL,
  -- Of the API token that it lives by; its scopes are those of that one.
  client_id text,
  -- What it may do: a list of {team, scopes}.
  grants jsonb NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  last_used_at timestamptz(3) NOT NULL DEFAULT now(),
  expires_at timestamptz(3) NOT NULL,
  -- When the issuer is to be asked again; where a gateway is about it, when another may try.
  renew_at timestamptz(3),
  -- What the issuer is asked with, sealed.
  ciphertext bytea,
  key_id text
);
CREATE INDEX console_sessions_subject ON console_sessions (subject);
CREATE INDEX console_sessions_expires_at ON console_sessions (expires_at);
CREATE TABLE sign_in_codes (
  code_hash bytea PRIMARY KEY,
  team text NOT NULL REFERENCES teams (slug),
  name text NOT NULL,
  scopes text[] NOT NULL,
  expires_at timestamptz(3) NOT NULL
);
