import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

/** The page of the command line `pas`, made from the program itself. */
export async function cliPage(root: string, generatedBy: (source: string) => string): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, ['apps/cli/src/reference.ts'], {
    cwd: root,
    env: { PATH: process.env['PATH'] ?? '', HOME: '/' },
  })
  return `# The command line \`pas\`

${generatedBy('the `--help` of each command')}

How to install it, and what it is for: [the guide](../guides/command-line.md). The options of \`pas\` itself go for every command, before or behind its name. Data goes to stdout and words to stderr, so a pipe gets data alone.

${stdout.trim()}

## Exit codes

| code | means |
|---|---|
| 0 | done |
| 1 | refused by the service, or an item of several has failed |
| 2 | the command line can't be understood |
| 3 | somebody else has changed it meanwhile |
| 4 | nobody is signed in, or the token is not accepted |
| 5 | a run ended as ERROR, KILLED or REJECTED |
| 6 | the wait ran out; the run goes on |
| 7 | the service is not reached |
| 8 | changes are pending (\`plan --check\`) |
| 130 | ended by Ctrl-C |

\`pas sandbox exec\` and \`pas sandbox shell\` end with the code of the command, with 125 where it is not the command that failed, and \`exec\` with 124 after \`--timeout\`.

## Environment

| variable | means |
|---|---|
| \`PAS_URL\`, \`PAS_TEAM\`, \`PAS_TOKEN\` | address, team and token in place of those that are stored; for CI. \`--url\`, \`--team\` and \`--context\` come before them, and where \`PAS_URL\` is set the token goes to no context with another address |
| \`PAS_CONTEXT\` | the context, as by \`--context\` |
| \`PAS_DEBUG\` | with any value, faults of the program come with their stack |
| \`NO_COLOR\`, \`FORCE_COLOR\` | no colours, colours also in pipes |
| \`XDG_CONFIG_HOME\` | where contexts and tokens are, in \`pas/\`; \`~/.config\` where absent |
| \`NODE_EXTRA_CA_CERTS\` | certificates of authorities to trust beside the usual ones |
| \`NODE_USE_ENV_PROXY\` | with 1, \`HTTPS_PROXY\` and \`NO_PROXY\` hold |
`
}
