-- The process that is run after each execution of the team that ends in ERROR. By name: it may go, and come again.
ALTER TABLE teams
  ADD COLUMN error_handler_slug text COLLATE "C",
  ADD COLUMN error_handler_tag text COLLATE "C";
