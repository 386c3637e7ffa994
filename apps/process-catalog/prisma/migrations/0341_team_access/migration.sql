-- Access tokens of a team that were issued before this are refused, where an operator has ended them.
ALTER TABLE teams ADD COLUMN access_from timestamptz(3);
