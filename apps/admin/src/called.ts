/** How people call the command line, as its texts show it. */
export interface Called {
  /** What they type before a command. */
  as: string
  /** The same so that nothing but the answer is printed. */
  quietly: string
  /** Which system the commands go to. */
  system: string
}

/** From a clone of the repository. */
export const fromClone: Called = {
  as: 'npm run admin --',
  quietly: 'npm run --silent admin --',
  system: `the environment says. With INTERNAL_KEY and SERVICE_ADDRESSES=catalog=host:port the process-catalog there; else the
system that runs on DATA_DIR (default .data); when none runs there, its database is opened for the moment.`,
}

/** In an image. */
export const inImage: Called = {
  as: 'admin',
  quietly: 'admin',
  system: 'that of the pod, by its SERVICE_ADDRESSES and INTERNAL_KEY.',
}
