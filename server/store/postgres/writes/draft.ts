import { randomUUID } from 'node:crypto'
import type { Incident, IncidentUpdate } from '../../../../api/contract/incident.ts'
import type { Actor } from '../../../domain/accounts/actor.ts'
import { actorOf } from '../../../domain/changeOrigin.ts'
import type { Command } from '../../../domain/commands.ts'
import { incidentBytes } from '../../../domain/incidentQuota.ts'
import { orderedUuid } from '../../../domain/orderedUuid.ts'
import type { SealedValue } from '../../../domain/seal.ts'
import type { ServiceChange } from '../../../domain/serviceChanges.ts'
import { type AuditedAction, auditRow } from '../../shared/auditedAction.ts'
import { type AutoIncidents, autoIncidentsOf } from '../../shared/autoIncidents.ts'
import { type EventRow, incidentEvents } from '../../shared/events.ts'
import { keepsOrigin, type PastRow, pastRows } from '../../shared/pastGeneration.ts'
import { columnsOf, usageAfter, usageOf } from '../../shared/serviceRow.ts'
import { LONG_RESPONSE_BYTES, storedResponse } from '../../shared/storedCreation.ts'
import type { CreationFingerprint, RenderedService } from '../../store.ts'
import { AutomaticWrites, automaticRows } from './automatic.ts'
import type { OrgColumns } from './orgColumns.ts'
import { type KnownService, type OrgState, quotaOf } from './orgState.ts'

/** A row of `services` to write. */
export interface ServiceRow {
  readonly id: string
  readonly generation: number
  readonly definitionGeneration: number
  readonly runningIn: string
  readonly response: string
  readonly origin: string | null
}

/** A row of `commands` to write. */
export interface CommandRow extends Command {
  readonly number: number
  readonly createdAtMs: number
}

/** A row of `remembered_creations` to write. */
export interface CreationRow {
  readonly keyHash: Buffer
  readonly bodyMark: Buffer
  readonly answer: string
  readonly createdAtMs: number
  readonly shortNumber: number | null
  readonly longBytesUpTo: number | null
}

/** A row of `incident_updates` to write. */
export interface UpdateRow extends IncidentUpdate {
  readonly incidentId: string
  readonly place: number
  /** Public pages do not show the texts of automation. */
  readonly isAutomatic: boolean
  readonly actorKind: string | null
  readonly actor: string | null
}

/**
 * The mutations of a batch, in memory: the resulting state of the organisation, and the rows that one statement writes.
 * Each row is written once, in its final form. A method that throws has changed nothing.
 */
export class Draft {
  readonly state: OrgState
  /** `null` deletes the row. */
  readonly services = new Map<string, { readonly isStored: boolean; readonly row: ServiceRow | null }>()
  /** All secrets of a service. */
  readonly sealed = new Map<string, readonly SealedValue[]>()
  readonly past: PastRow[] = []
  readonly commands: CommandRow[] = []
  readonly incidents = new Map<string, { readonly isStored: boolean; readonly incident: Incident }>()
  readonly updates: UpdateRow[] = []
  /** Events for channels. */
  readonly events: EventRow[] = []
  readonly creations = new Map<string, CreationRow>()
  readonly actions: ReturnType<typeof auditRow>[] = []
  readonly automatic = new AutomaticWrites()
  /** Services that changed without a command to a region. */
  readonly quiet = new Set<string>()
  /** Approximate size of the texts and secrets to write (bytes). */
  bytes = 0

  /** Automatic incidents of the services that were read. */
  readonly autoIncidents: AutoIncidents

  /** `nowMs` is the wall clock. */
  constructor(state: OrgState, nowMs: () => number) {
    this.state = state
    this.autoIncidents = autoIncidentsOf({
      rows: automaticRows(this),
      writes: {
        open: (_, by, decide) => {
          const incident = decide({ number: state.columns.incidentsMade + 1, quota: quotaOf(state) })
          this.changeIncident(null, incident, by)
          return incident
        },
        change: (_, incidentId, by, decide) => {
          const before = state.incidents.get(incidentId)
          if (before === undefined) return undefined
          const after = decide(before, quotaOf(state))
          this.changeIncident(before, after, by)
          return after
        },
      },
      environment: { nowMs, uuid: () => orderedUuid(nowMs(), randomUUID()) },
      // The database watches its own disk.
      assertGrowth: () => {},
    })
  }

  /** Every change by a person has an action. */
  get isEmpty(): boolean {
    return this.actions.length === 0 && this.automatic.isEmpty
  }

  setColumns(columns: Partial<OrgColumns>): void {
    this.state.columns = { ...this.state.columns, ...columns }
  }

  note(audited: Omit<AuditedAction, 'orgId'>): void {
    this.actions.push(auditRow({ ...audited, orgId: this.state.orgId }))
  }

  /** Stores `change` of the service `before`, which is `null` for a new one. */
  changeService(before: KnownService | null, change: ServiceChange, nowMs: number): RenderedService {
    const { service, text, sealed, commands } = change
    const id = service?.response.id ?? before?.service.response.id ?? ''
    const given = change.origin === undefined ? null : JSON.stringify(change.origin)
    const origin = before !== null && keepsOrigin(change) ? before.origin : given
    if (before === null && this.services.has(id)) throw new Error(`the service ${id} was just created`)
    if (before !== null) this.#keepPast(before, change, nowMs)
    this.bytes += text.length + (sealed ?? []).reduce((sum, { ciphertext }) => sum + ciphertext.length, 0)
    this.#publish(commands, nowMs)
    this.#putService(
      id,
      before,
      service === null ? null : { id, response: text, origin, ...columnsOf(service) },
    )
    if (service === null) this.sealed.delete(id)
    else if (sealed !== null) this.sealed.set(id, sealed)
    if (service === null) this.state.services.delete(id)
    else this.state.services.set(id, { service, text, origin })
    const { activeServices, activeEndpoints, storedServices } = this.state.columns
    const usage = { activeServices, activeEndpoints, storedServices }
    this.setColumns(usageAfter(usage, usageOf(before?.service ?? null), usageOf(service)))
    if (commands.length === 0) this.quiet.add(id)
    if (before !== null) this.autoIncidents.follow(before.service.response, service?.response ?? null)
    const { name } = service?.response ?? before?.service.response ?? {}
    const by = actorOf(change.origin)
    this.note({ by, action: `service.${change.action}`, targetId: id, nowMs, detail: { name } })
    return { text, generation: service?.generation ?? (before?.service.generation ?? 0) + 1 }
  }

  /** Stores an incident; `before` is `null` for a new one, whose number is the next of the organisation. */
  changeIncident(before: Incident | null, after: Incident, by: Actor): void {
    const known = this.incidents.get(after.id)
    if (before === null && known !== undefined) throw new Error(`the incident ${after.id} was just created`)
    this.incidents.set(after.id, { isStored: known?.isStored ?? before !== null, incident: after })
    const from = before?.updates.length ?? 0
    this.bytes += incidentBytes(after)
    const [actorKind, actor] = 'id' in by ? [by.kind, by.id] : [null, null]
    const isAutomatic = by.kind === 'system'
    for (const [offset, update] of after.updates.slice(from).entries()) {
      const row = { incidentId: after.id, place: from + offset, isAutomatic, actorKind, actor }
      this.updates.push({ ...update, ...row })
    }
    const { incidentsMade, incidentBytes: bytes } = this.state.columns
    this.setColumns({
      incidentsMade: before === null ? incidentsMade + 1 : incidentsMade,
      incidentBytes: bytes + incidentBytes(after) - (before === null ? 0 : incidentBytes(before)),
    })
    this.state.incidents.set(after.id, after)
    const { display_id, status, updated_at } = after
    const action = `incident.${before === null ? 'create' : 'update'}`
    const nowMs = Date.parse(updated_at)
    this.note({ by, action, targetId: after.id, nowMs, detail: { display_id, status } })
    const { channels, serviceNames, orgId: id, columns } = this.state
    const tools = { nowMs: () => nowMs, uuid: () => orderedUuid(nowMs, randomUUID()) }
    const nameOf = (serviceId: string): string | null => serviceNames.get(serviceId) ?? null
    const about = { org: { id, name: columns.name }, incident: after, from }
    this.events.push(...incidentEvents(about, channels, nameOf, tools))
  }

  /** The response stored for `fingerprint`, or that of `create`, which it stores. Throws `invalid` for another body. */
  createOnce(fingerprint: CreationFingerprint | undefined, nowMs: number, create: () => string): string {
    if (fingerprint === undefined) return create()
    const { keyHash, bodyFingerprint } = fingerprint
    const name = keyHash.toString('hex')
    const earlier = storedResponse(this.state.creations.get(name), fingerprint, nowMs)
    if (earlier !== undefined) return earlier
    const response = create()
    const { shortResponsesMade, longResponseBytes } = this.state.columns
    const bytes = Buffer.byteLength(response)
    const isLong = bytes > LONG_RESPONSE_BYTES
    this.setColumns(
      isLong
        ? { longResponseBytes: longResponseBytes + bytes }
        : { shortResponsesMade: shortResponsesMade + 1 },
    )
    const shortNumber = isLong ? null : shortResponsesMade + 1
    const longBytesUpTo = isLong ? longResponseBytes + bytes : null
    this.bytes += bytes
    const row = { keyHash, bodyMark: bodyFingerprint, answer: response, createdAtMs: nowMs }
    this.creations.set(name, { ...row, shortNumber, longBytesUpTo })
    this.state.creations.set(name, { bodyFingerprint, response, createdAtMs: nowMs })
    return response
  }

  #keepPast({ service, origin }: KnownService, change: ServiceChange, nowMs: number): void {
    const rows = pastRows({ service, origin, change, nowMs }, this.state.columns.pastBytes)
    this.past.push(...rows)
    this.setColumns({ pastBytes: rows.at(-1)?.bytesUpTo ?? this.state.columns.pastBytes })
  }

  #publish(commands: readonly Command[], nowMs: number): void {
    const { commandsMade } = this.state.columns
    for (const [index, command] of commands.entries()) {
      this.commands.push({ ...command, number: commandsMade + index + 1, createdAtMs: nowMs })
    }
    this.setColumns({ commandsMade: commandsMade + commands.length })
  }

  #putService(id: string, before: KnownService | null, row: ServiceRow | null): void {
    const known = this.services.get(id)
    const isStored = known?.isStored ?? before !== null
    if (!isStored && row === null) this.services.delete(id)
    else this.services.set(id, { isStored, row })
  }
}
