/** What a merge makes of files. */
export interface MergedFiles {
  /** Texts to write by path; null removes the file. */
  writes: Map<string, string | null>
  /** What the server has of files that clash, by the path of the file. */
  clashes: Map<string, string>
}

export function noFiles(): MergedFiles {
  return { writes: new Map(), clashes: new Map() }
}
