import { randomUUID } from 'node:crypto'
import type { OpenSessionRequest, OutsideIdentity, SessionService } from '@automation/contract/catalog/v1/session'
import { Failure, invalid, notFound } from '@automation/errors'
import { operatorFor, principalIn, type Handlers } from '@automation/rpc'
import { timestampFromDate } from '@bufbuild/protobuf/wkt'
import { bootstrapScopes } from '../access/api-token.ts'
import type { Catalog } from '../catalog.ts'
import { limits } from '../fields/limits.ts'
import {
  allowsAll,
  byApiToken,
  byCode,
  byIdentity,
  codeLifeMs,
  codeSubject,
  invalidCredentials,
  newOpener,
  openedSecrets,
  openerHash,
  sessionContext,
  sessionEnded,
  type Opening,
} from '../access/sessions.ts'
import { signAccessToken } from '../access/signing-keys.ts'
import {
  claimRenewal,
  endSession,
  endSessions,
  keepSession,
  keepSignInCode,
  knownTeams,
  liveSession,
  newRecordedId,
  noteSessionUse,
  recordedId,
  renewSession,
  type Grant,
  type LiveSession,
} from '../store/sessions.ts'
import { text } from '../fields/text.ts'
import { knownScope } from './tokens.ts'

/** Sessions of people at the console. */
export function sessionHandlers(catalog: Catalog): Handlers<typeof SessionService> {
  const { store, box, logger } = catalog
  const sealedFor = (id: string, { secrets }: OutsideIdentity) =>
    secrets === '' ? null : box.seal(secrets, sessionContext(id))

  return {
    async createSignInCode({ team, name, scopes }, context) {
      operatorFor(team, context)
      const code = newOpener()
      const expiresAt = new Date(Date.now() + codeLifeMs)
      await keepSignInCode(store, {
        codeHash: openerHash(code),
        team,
        name: text('/name', name.trim() || codeSubject, limits.nameCharacters),
        scopes: scopes.length === 0 ? bootstrapScopes : scopes.map(knownScope),
        expiresAt,
      })
      return { code, expiresAt: timestampFromDate(expiresAt) }
    },

    async openSession({ credentials, ip }, context) {
      principalIn(context, 'service')
      const opening = await openingOf(catalog, credentials, ip)
      const sessionId = newOpener()
      const id = newRecordedId()
      const idHash = openerHash(sessionId)
      const sealed = credentials.case === 'identity' ? sealedFor(id, credentials.value) : null
      const isKept = await keepSession(store, { ...opening, id, idHash, sealed }, ip || undefined)
      if (!isKept) throw invalidCredentials()
      const session = await liveSession(store, idHash)
      if (session === undefined) throw sessionEnded()
      return { sessionId, session: sessionMessage(session) }
    },

    async readSession({ sessionId, team, lookOnly }, context) {
      principalIn(context, 'service')
      const idHash = openerHash(sessionId)
      const session = await liveSession(store, idHash)
      if (session === undefined) throw sessionEnded()
      if (session.isUseOld && !lookOnly)
        noteSessionUse(store, idHash).catch((err: unknown) =>
          logger.warn({ err }, 'the use of a session was not noted'),
        )
      const due = session.isRenewalDue ? await claimRenewal(store, idHash) : undefined
      return {
        session: sessionMessage(session),
        accessToken: team === '' ? '' : await accessTokenFor(catalog, session, team),
        renewalDue: due !== undefined,
        secrets: due === undefined ? '' : openedSecrets(box, due),
      }
    },

    async renewSession({ sessionId, identity }, context) {
      principalIn(context, 'service')
      if (identity === undefined) throw invalid('/identity', 'is required')
      const idHash = openerHash(sessionId)
      const id = await recordedId(store, idHash)
      if (id === undefined) throw sessionEnded()
      const { name, grants, renewAt } = await byIdentity(store, identity)
      const isThere = await renewSession(store, { idHash, name, grants, renewAt, sealed: sealedFor(id, identity) })
      if (!isThere) throw sessionEnded()
      return {}
    },

    async closeSession({ sessionId, ip }, context) {
      principalIn(context, 'service')
      const ended = await endSession(store, openerHash(sessionId), ip || undefined)
      return { secrets: ended === undefined ? '' : openedSecrets(box, ended) }
    },

    async endSessions({ team }, context) {
      principalIn(context, 'operator')
      if (team !== '' && !(await knownTeams(store, [team])).has(team)) throw notFound('team')
      return { ended: await endSessions(store, team) }
    },
  }
}

function openingOf(catalog: Catalog, credentials: OpenSessionRequest['credentials'], ip: string): Promise<Opening> {
  const { store } = catalog
  switch (credentials.case) {
    case 'code':
      return byCode(store, credentials.value)
    case 'apiToken':
      return byApiToken(catalog, credentials.value, ip)
    case 'identity':
      return byIdentity(store, credentials.value)
    default:
      throw invalidCredentials()
  }
}

/** Names beside the team those others where the session may do as much. Failure forbidden for a team that it has not. */
async function accessTokenFor({ config, keys }: Catalog, session: LiveSession, team: string): Promise<string> {
  const { subject, name, grants, endsAt, expiresAt, isOutside, kid } = session
  const granted = grants.find((grant) => grant.team === team)
  if (granted === undefined) throw new Failure('permission_denied', 'forbidden', 'The session does not allow this')
  const others = grants.filter((grant) => grant !== granted && allowsAll(grant.scopes, granted.scopes))
  const nowS = Math.floor(Date.now() / 1000)
  const claims = {
    issuer: config.publicUrl,
    clientId: subject,
    name,
    teams: [granted, ...others].map((grant) => grant.team),
    scope: granted.scopes.join(' '),
    issuedAtS: nowS,
    ttlS: Math.max(1, Math.floor(endsAt.getTime() / 1000) - nowS),
    id: randomUUID(),
    ...(isOutside && { accessEndsAtS: Math.floor(expiresAt.getTime() / 1000) }),
  }
  return signAccessToken(claims, kid, await keys.privateKey(kid))
}

function sessionMessage({ name, clientId, grants, teamNames, endsAt }: LiveSession) {
  return {
    name,
    clientId: clientId ?? undefined,
    grants: grants.map(({ team, scopes }: Grant) => ({ team, scopes, teamName: teamNames[team] ?? '' })),
    endsAt: timestampFromDate(endsAt),
  }
}
