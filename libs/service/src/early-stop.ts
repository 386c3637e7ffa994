/*
 * Preloaded in images (`node --import`). The first process of a container gets no signal that it has no handler for, so
 * that one which is told to stop before it has loaded would live until the end of its grace.
 */
process.on('SIGTERM', () => {
  // Once the program listens itself, it stops in its own way.
  if (process.listenerCount('SIGTERM') === 1) process.exit(143)
})
