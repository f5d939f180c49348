import { invitations } from '../accounts/invitations.ts'
import { members } from '../accounts/members.ts'
import { people } from '../accounts/people.ts'
import { sessions } from '../accounts/sessions.ts'
import { agentTokens } from '../administration/agentTokens.ts'
import { auditLog } from '../administration/auditLog.ts'
import { keyring } from '../administration/keyring.ts'
import { keyUses } from '../administration/keyUses.ts'
import { maintenance, type WindowRows } from '../administration/maintenance.ts'
import { organisations } from '../administration/organisations.ts'
import { regionModes } from '../administration/regionModes.ts'
import { secrets } from '../administration/secrets.ts'
import type { CommandOrder } from '../commands/commandOrder.ts'
import { outbox } from '../commands/outbox.ts'
import { incidentReads } from '../incidents/incidentReads.ts'
import type { IncidentSql } from '../incidents/incidentSql.ts'
import { type ChangeSql, changeReads } from '../monitoring/changeReads.ts'
import { monitoringReads } from '../monitoring/monitoringReads.ts'
import { channelChanger } from '../notifications/channelRows.ts'
import { signingSecrets } from '../notifications/channelSecrets.ts'
import { channels } from '../notifications/channels.ts'
import { deliveries } from '../notifications/deliveries.ts'
import type { Scripts } from '../scripts/script.ts'
import { serviceHistory } from '../services/serviceHistory.ts'
import { publishedReads } from '../statusPages/publishedReads.ts'
import { statusPages } from '../statusPages/statusPages.ts'

/** A kind of database as its scripts need it. */
export interface ScriptedParts {
  readonly scripts: Scripts
  /** Runs scripts that change organisations, plans and keys. */
  readonly administration: Scripts
  /** Runs scripts of the outbox. */
  readonly commands: Scripts
  readonly commandOrder: CommandOrder
  readonly changeSql: ChangeSql
  readonly incidentSql: IncidentSql
  readonly windowRows: WindowRows
  readonly storeId: string
  readonly nowMs: () => number
}

/** The parts of a store that are scripts. */
export function scriptedStore(parts: ScriptedParts) {
  const { scripts, administration, incidentSql, windowRows, storeId, nowMs } = parts
  const changeChannel = channelChanger(scripts)
  return {
    ...serviceHistory(scripts),
    ...incidentReads(scripts, incidentSql),
    ...outbox(parts.commands, { order: parts.commandOrder, storeId }),
    ...monitoringReads(scripts, windowRows.serviceIds),
    ...changeReads(scripts, parts.changeSql),
    ...agentTokens(scripts),
    ...regionModes(scripts, nowMs),
    ...keyUses(scripts),
    ...secrets(scripts),
    ...auditLog(scripts),
    ...organisations(administration, nowMs),
    ...keyring(administration),
    ...maintenance(scripts, windowRows),
    ...people(scripts),
    ...sessions(scripts),
    ...members(scripts),
    ...invitations(scripts),
    ...statusPages(scripts, nowMs),
    ...publishedReads(scripts, incidentSql),
    ...channels(scripts, changeChannel),
    ...signingSecrets(scripts, changeChannel),
    ...deliveries(scripts, changeChannel),
  }
}
