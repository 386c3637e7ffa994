/** Who holds a claimed folder: its process and what it told about itself. */
export interface ClaimHolder {
  pid: number
  details: Record<string, unknown>
}

/** A folder that this process has taken, or who has. */
export type Claim =
  | { held: true; tell(details: Record<string, unknown>): void; release(): void }
  | { held: false; holder: ClaimHolder }

/** Takes a folder for this process alone; `details` is what a second candidate is told. */
export function claim(folder: string, details: Record<string, unknown>): Promise<Claim>

/** Who holds the folder now, if anybody does. */
export function holderOf(folder: string): ClaimHolder | undefined
