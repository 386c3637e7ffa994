-- What an API token may give, when it ends by itself, and when it was last exchanged. Tokens from before have executor.
ALTER TABLE api_tokens
  ADD COLUMN id uuid NOT NULL DEFAULT gen_random_uuid(),
  ADD COLUMN scopes text[] NOT NULL DEFAULT '{executor}',
  ADD COLUMN expires_at timestamptz(0),
  ADD COLUMN last_used_at timestamptz(3);
CREATE UNIQUE INDEX api_tokens_id ON api_tokens (id);
