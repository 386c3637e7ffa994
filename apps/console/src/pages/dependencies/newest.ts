/** In the address in place of an id: the installation that was begun last, however soon it ends. */
export const NEWEST = 'newest'
