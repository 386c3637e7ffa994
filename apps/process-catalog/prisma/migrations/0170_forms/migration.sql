-- What the form of a process runs, and which origins may show its page within theirs.
ALTER TABLE processes ADD COLUMN forms_tag text, ADD COLUMN frame_ancestors text[] NOT NULL DEFAULT '{}';
