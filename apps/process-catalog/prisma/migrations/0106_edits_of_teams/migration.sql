-- Who changed a team last. Its entity tag is made of all that it shows.
ALTER TABLE teams ADD COLUMN updated_by text, ADD COLUMN updated_at timestamptz(3);
