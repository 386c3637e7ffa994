-- What is said of the source of a row, and of which of its edits: a replica that knows nothing of it raises the revision alone.
ALTER TABLE processes ADD COLUMN source_digest text, ADD COLUMN origin text, ADD COLUMN described_revision integer;

-- Those that are still to be described; empty but for an upgrade.
CREATE INDEX processes_undescribed ON processes (id) WHERE described_revision IS DISTINCT FROM revision;
