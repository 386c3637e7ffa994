/** In a statement, that a run `e` waits in its team's queue; those that wait for packages, or did so just now, are CREATED. */
export const waits = 'e.status IN (1, 2)'

/** That a runner may have it: it waits for a slot alone. */
export const waitsForSlot = `${waits} AND NOT e.held`
