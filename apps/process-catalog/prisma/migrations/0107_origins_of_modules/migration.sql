-- As those of processes.
ALTER TABLE modules ADD COLUMN source_digest text, ADD COLUMN origin text, ADD COLUMN described_revision integer;
CREATE INDEX modules_undescribed ON modules (id) WHERE described_revision IS DISTINCT FROM revision;
