import type { Command } from 'commander'
import { TokenService } from '@automation/contract/catalog/v1/token'
import { acts, group, leaf, tell, type Perform } from './command-parts.ts'
import { operatorContext } from './operator-context.ts'
import { encryptionStatus, leftIn, rotateEncryptionKey } from './rotate-encryption-key.ts'

/** The commands for the keys that access tokens are signed with. */
export function addKeys(program: Command, perform: Perform): void {
  const keys = group(program, 'keys', 'the keys that access tokens are signed with')
  leaf(
    keys,
    'rotate',
    'sign access tokens with a new key from now on; those that were issued are valid until they expire',
  )
    .option('--at-once', 'end all access tokens that were issued, of all teams, within 5 s')
    .action(
      acts(perform, async (target, { atOnce = false }: { atOnce?: boolean }) => {
        await target.client(TokenService).rotateSigningKey({ atOnce }, operatorContext())
        const rest = atOnce ? ' Those that were issued are valid no more.' : ''
        return { json: { rotated: true, atOnce }, text: `Access tokens are signed with a new key from now on.${rest}` }
      }),
    )
}

/** The command for the key that secrets are encrypted with. */
export function addEncryptionKey(program: Command, perform: Perform): void {
  leaf(program, 'rotate-encryption-key', 'encrypt all that is stored with the first key of ENCRYPTION_KEY')
    .option('--status', 'only say which secrets need an older key')
    .action(
      acts(perform, (target, { status = false }: { status?: boolean }) =>
        status ? encryptionStatus(target) : rotateEncryptionKey(target, (secrets) => tell(leftIn(secrets))),
      ),
    )
}
