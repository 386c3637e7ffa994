-- Where a team's tokens may be used from: addresses and CIDRs; none: from anywhere.
ALTER TABLE teams ADD COLUMN allowed_addresses text[] NOT NULL DEFAULT '{}';
