-- When the access tokens that an API token was exchanged for were revoked with it, where they were.
ALTER TABLE api_tokens ADD COLUMN access_revoked_at timestamptz(3);
