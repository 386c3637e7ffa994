-- Links of forms that were public before links had tokens: 244 random bits each.
UPDATE processes
  SET public_token = replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', '')
  WHERE public_enabled AND coalesce(public_token, '') = '';
