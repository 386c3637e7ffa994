-- Addresses and ranges of them that a webhook may be called from; none is anywhere.
ALTER TABLE processes ADD COLUMN webhook_allowed_addresses text[] NOT NULL DEFAULT '{}';
