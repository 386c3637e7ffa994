'use strict'

// npm prepares a package from git by another npm in what it has fetched, which would take settings from there: what git
// is, by what way the registry is reached. Without scripts there is nothing to prepare.
if (process.env._PACOTE_NO_PREPARE_ !== undefined) process.exit(0)
