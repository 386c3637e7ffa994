/** Whom the runner serves: every team or, where it is for one, that of the first run that it begins. */
export class TeamBinding {
  readonly #oneTeam: boolean
  #team = ''

  constructor(oneTeam: boolean) {
    this.#oneTeam = oneTeam
  }

  /** Whether a run of this team may begin here; the first one decides. */
  admits(team: string): boolean {
    if (!this.#oneTeam) return true
    if (this.#team === '') this.#team = team
    return this.#team === team
  }

  /** It is for one team, and nobody's yet. */
  get isFree(): boolean {
    return this.#oneTeam && this.#team === ''
  }

  /** The one that it serves; empty where that is not decided, or it serves all. */
  get team(): string {
    return this.#team
  }
}
