import type { Incident } from '../../api/contract/incident.ts'
import type { Section, Severity } from '../../api/contract/incidentTerms.ts'
import type { Scope } from '../../api/contract/org.ts'
import type { Actor } from '../domain/accounts/actor.ts'
import type { Allowance } from '../domain/allowance.ts'
import type { Caller } from '../domain/apiKeys.ts'
import type { AutoIncidentSettings } from '../domain/autoIncidentSettings.ts'
import type { ChangeOrigin } from '../domain/changeOrigin.ts'
import type { Command } from '../domain/commands.ts'
import type { IncidentFacts } from '../domain/incidentChanges.ts'
import type { IncidentQuota } from '../domain/incidentQuota.ts'
import type { OrgQuota, OrgUsage, PlanLimits } from '../domain/planLimits.ts'
import type { SealedValue } from '../domain/seal.ts'
import type { Service, ServiceChange } from '../domain/serviceChanges.ts'
import type { AccountStore } from './accountStore.ts'
import type { AgentTokenStore, MonitoringStore } from './monitoringStore.ts'
import type { AuditStore, NotificationStore } from './notificationStore.ts'
import type { PublishedStore, StatusPageStore } from './statusPageStore.ts'

/** A service in a response: ServiceResponse as JSON text, and the generation of its ETag. */
export interface RenderedService {
  readonly text: string
  readonly generation: number
}

/** The stored form of an Idempotency-Key: neither key nor body can be read back from it. Gap G20. */
export interface CreationFingerprint {
  /** Hash of operation and key. */
  readonly keyHash: Buffer
  /** Hash of the body, keyed: without the key a guessable secret in the body cannot be found by trial. */
  readonly bodyFingerprint: Buffer
  /** The form of schemas up to 2, for 24 hours after an upgrade: it depends on the order of members. */
  readonly earlierBodyFingerprint: () => Buffer
}

/** The decision about a creation: pure, made in the transaction that writes. */
export type Decide<Facts, Outcome> = (facts: Facts) => Outcome

/** The data for a decision about a service, read in the transaction that writes. */
export interface ServiceFacts {
  readonly quota: OrgQuota
  /** Id of the master key that wraps new secrets. */
  readonly masterKeyId: string
}

/** A snapshot of a list too long for memory, held until it is closed. */
export interface LongList {
  /** Total of all pieces (bytes); absent when it is known only at the end. */
  readonly length?: number
  /** One JSON text, bytes of UTF-8, an array in the store. Fails when the database cannot be read. */
  readonly pieces: AsyncIterable<Uint8Array>
  /** Must always be called: until then, the database cannot reuse space. */
  readonly close: () => Promise<void>
}

/** The services of an organisation. */
export interface ServiceStore {
  /** All services of the organisation in creation order. */
  listServices(orgId: string): Promise<readonly RenderedService[]>
  /**
   * The same as one JSON array in UTF-8: the response to a list, without parsing each service. `undefined` when it is
   * too long for memory.
   */
  renderServices(orgId: string): Promise<Uint8Array | undefined>
  /** The same array in pieces, of any length. */
  openServices(orgId: string): Promise<LongList>
  /** The generation of each service of the organisation by its id. */
  serviceGenerations(orgId: string): Promise<ReadonlyMap<string, number>>
  /** `undefined` when the organisation has no such service. */
  getService(orgId: string, serviceId: string): Promise<RenderedService | undefined>
  /**
   * Stores the result of `decide` with its secrets and commands, or returns the response stored for the same
   * `fingerprint`. Rejects with the errors of `decide`, and with `invalid` when `fingerprint` was used for another
   * body.
   */
  createService(
    orgId: string,
    fingerprint: CreationFingerprint | undefined,
    decide: Decide<ServiceFacts, ServiceChange>,
  ): Promise<RenderedService>
  /**
   * Stores the result of `decide` for the service; `null` changes nothing. Resolves to the service afterwards (when
   * deleted, its last definition), or `undefined` when the organisation has no such service.
   */
  changeService(
    orgId: string,
    serviceId: string,
    decide: (service: Service, facts: ServiceFacts) => ServiceChange | null,
  ): Promise<RenderedService | undefined>
  /** The stored generations of a service, newest first; those of a deleted service begin with its deletion. Gap G48. */
  generationsOf(serviceId: string): Promise<readonly ServiceGeneration[]>
  /** Origins of the services of the organisation, ordered by name. */
  listOrigins(orgId: string): Promise<readonly ServiceOrigins[]>
}

/** A service and the origins of its changes. */
export interface ServiceOrigins {
  readonly id: string
  readonly name: string
  /** Newest first; only the newest unless a person made it. `null` for an origin that was not stored. */
  readonly origins: readonly (ChangeOrigin | null)[]
}

/** A generation of a service and its origin. */
export interface ServiceGeneration {
  readonly generation: number
  /** When the next generation replaced it (milliseconds since the epoch); `null` for the current one. */
  readonly untilMs: number | null
  /** `null` when it was not stored, as by earlier releases. */
  readonly origin: ChangeOrigin | null
  /** JSON without values of headers, bodies and queries; `null` for a deletion. */
  readonly definition: string | null
}

/** The filter of a list of incidents. Filters that are `undefined` match everything; all given ones must match. */
export interface IncidentFilter {
  readonly section: Section
  /** Matches title or display id, case-insensitive. */
  readonly q: string | undefined
  readonly severity: Severity | undefined
  /** Any of these; empty matches everything. */
  readonly serviceIds: readonly string[]
  /** From 1. */
  readonly page: number
  readonly limit: number
}

/** A page of incidents: complete, or a list to open when it is too long for memory. */
export type IncidentList =
  | { readonly total: number; readonly items: readonly Incident[] }
  | { readonly total: number; readonly openItems: () => Promise<LongList> }

/** The incidents of an organisation, without maintenance windows. Contract: Rules, 4. */
export interface IncidentStore {
  getIncident(orgId: string, incidentId: string): Promise<Incident | undefined>
  /**
   * One page, newest first, and the total number. A long search awaits `yieldTurn` between slices: incidents changed
   * meanwhile are returned in their newer form, new ones are not found.
   */
  listIncidents(orgId: string, filter: IncidentFilter, yieldTurn: () => Promise<void>): Promise<IncidentList>
  /** The open incidents of each service that has one, of the newest OPEN_ENTRIES_MAX. */
  openIncidents(orgId: string): Promise<ReadonlyMap<string, OpenIncidents>>
  /** As `createService`. `decide` receives the ownership of `wantedServiceIds`. */
  createIncident(
    orgId: string,
    creation: {
      readonly by: Actor
      readonly wantedServiceIds: readonly string[]
      readonly fingerprint?: CreationFingerprint | undefined
    },
    decide: Decide<IncidentFacts, Incident>,
  ): Promise<Incident>
  /** Stores the result of `decide` for the incident; `undefined` when the organisation has no such incident. */
  changeIncident(
    orgId: string,
    incidentId: string,
    by: Actor,
    decide: (incident: Incident, quota: IncidentQuota) => Incident,
  ): Promise<Incident | undefined>
  /**
   * Authors of the updates of an incident, by update id; absent for automatic updates and those of earlier releases.
   */
  incidentAuthors(incidentId: string): Promise<ReadonlyMap<string, IncidentAuthor>>
}

/** The open incidents of a service. */
export interface OpenIncidents {
  readonly newest: Pick<Incident, 'id' | 'display_id'>
  /** Their different severities. */
  readonly severities: readonly Severity[]
}

/** Maximum number of services of open incidents that `openIncidents` reads, which bounds its time. */
export const OPEN_ENTRIES_MAX = 20_000

/** The author of an update of an incident. */
export interface IncidentAuthor {
  readonly kind: 'person' | 'key'
  /** E-mail address of the person, or the last four characters of the key; `null` when it is no longer stored. */
  readonly name: string | null
}

/** A logged command. */
export interface LoggedCommand extends Command {
  /** Its number. On PostgreSQL, concurrent commands may be published in another order. */
  readonly sequence: number
  /** `null` for a service that was deleted before schema 3. */
  readonly orgId: string | null
  readonly createdAtMs: number
  readonly isPublished: boolean
}

/** The filter of a list of commands; absent members match everything. */
export interface CommandFilter {
  readonly orgId?: string | undefined
  readonly serviceId?: string | undefined
  readonly region?: string | undefined
  /** Only unpublished ones. */
  readonly isUnpublished?: boolean
  readonly afterSequence?: number
  readonly countMax?: number
}

/** A position in the order of commands: opaque, and specific to one store. '' is before all commands. */
export type Cursor = string

/** Commands after a cursor. */
export interface CommandPage {
  readonly commands: readonly Command[]
  /** After the last of them. */
  readonly next: Cursor
}

/** Commands between the transaction that made them and their readers. Contract: Events, rule 3. */
export interface OutboxStore {
  /**
   * Committed commands after `cursor` in order, at most `countMax`; empty only when there are no more. A later call
   * never finds one before `next`.
   */
  commandsAfter(cursor: Cursor, countMax: number): Promise<CommandPage>
  /** Position of the named reader; '' when it never moved. */
  cursorOf(reader: string): Promise<Cursor>
  /** Moves the named reader; false, and unchanged, when it is no longer at `from`. */
  moveCursor(reader: string, from: Cursor, to: Cursor): Promise<boolean>
  /** The stored commands that match `filter`, in the order of their sequence numbers. */
  listCommands(filter?: CommandFilter): Promise<readonly LoggedCommand[]>
}

/** The reader whose commands count as published: older ones may be deleted. */
export const BUS_READER = 'bus'

/** Key lookup for every request: a revoked key stops at once. */
export interface KeyStore {
  /** The caller with the key of this hash; `undefined` when it is unknown or revoked. */
  callerOf(keyHash: Buffer): Promise<Caller | undefined>
}

/** Recording of key uses. */
export interface KeyUseStore {
  /** Records the last use of keys; unknown ones are passed over. */
  recordKeyUses(uses: readonly KeyUse[]): Promise<void>
}

/** Identifies the caller of a key and spends a token, in one step. */
export interface Admission {
  /** `undefined` when the key is unknown or revoked. */
  admit(keyHash: Buffer): Promise<{ readonly caller: Caller; readonly allowance: Allowance } | undefined>
}

/** Stored secrets, for rotation and for the regions. */
export interface SecretStore {
  /** Ids of the master keys in use, active one first; empty before the first start. */
  masterKeyIds(): Promise<readonly string[]>
  /**
   * Makes `id` the key for new secrets; earlier secrets keep theirs until they are rewrapped. `by` is for the audit log;
   * the operator when absent.
   */
  activateMasterKey(id: string, nowMs: number, by?: Actor): Promise<void>
  /** Removes `id`. Rejects when a secret still needs it. */
  retireMasterKey(id: string, nowMs: number): Promise<void>
  /** The secrets of one service. */
  sealedValues(serviceId: string): Promise<readonly SealedValue[]>
  /** Rewraps at most `countMax` secrets that are under another key than `activeId`; resolves to their number. */
  rewrapSome(
    activeId: string,
    countMax: number,
    rewrap: (sealed: SealedValue) => SealedValue,
  ): Promise<number>
}

/** A plan as data. Gap G1, Gap G12. */
export interface Plan extends PlanLimits {
  readonly name: string
  readonly hasApiAccess: boolean
}

export interface StoredOrg {
  readonly id: string
  readonly name: string
  readonly plan: string
  readonly createdAt: string
  /** With the organisation's overrides applied. */
  readonly limits: PlanLimits
}

export interface StoredKey {
  readonly id: string
  readonly orgId: string
  readonly last4: string
  readonly scope: Scope
  readonly createdAt: string
  readonly revokedAt: string | null
  /** Its requester, as free text; `null` when unknown. */
  readonly createdBy: string | null
  /** Its purpose; `null` when not given. */
  readonly note: string | null
  /** Last use (milliseconds since the epoch), up to a minute late; `null` when it was never used. */
  readonly usedAtMs: number | null
  /** First product of the User-Agent of that use; `null` without one. */
  readonly usedBy: string | null
}

/** A use of a key. */
export interface KeyUse {
  readonly keyId: string
  readonly atMs: number
  /** `null` without a User-Agent. */
  readonly tool: string | null
}

/** A planned maintenance window; it shares a table with incidents and must be excluded from their routes. */
export interface MaintenanceWindow {
  readonly id: string
  readonly orgId: string
  readonly title: string
  readonly startsAt: string
  readonly endsAt: string
  readonly serviceIds: readonly string[]
}

/** Limits of an organisation, with its overrides, and their usage. */
export interface OrgUse {
  readonly limits: PlanLimits
  readonly usage: OrgUsage
  /** Size of its incidents (bytes). */
  readonly incidentBytes: number
}

/**
 * Administration that the API document leaves to a dashboard. Methods without an actor act for the operator. Methods
 * reject with `not_found` for an unknown id.
 */
export interface AdministrationStore {
  createOrg(org: { id: string; name: string; plan: string; nowMs: number }): Promise<void>
  listOrgs(): Promise<readonly StoredOrg[]>
  setPlan(orgId: string, plan: string): Promise<void>
  renameOrg(change: { orgId: string; name: string; by: Actor; nowMs: number }): Promise<void>
  /** Limits and usage of the organisation. */
  orgUse(orgId: string): Promise<OrgUse>
  /** Limits of this organisation that override its plan's; `null` removes an override. */
  overrideLimits(orgId: string, overrides: LimitOverrides): Promise<void>
  /** Automatic incidents of services created later; `null` for none. */
  setDefaultAutoIncidents(orgId: string, settings: AutoIncidentSettings | null): Promise<void>
  listPlans(): Promise<readonly Plan[]>
  createKey(
    key: Pick<StoredKey, 'id' | 'orgId' | 'scope' | 'last4' | 'createdBy' | 'note'> & {
      readonly hash: Buffer
      readonly by: Actor
      readonly nowMs: number
    },
  ): Promise<void>
  listKeys(orgId: string): Promise<readonly StoredKey[]>
  /** Revokes the key with this id. With `orgId`, keys of other organisations are unknown. */
  revokeKey(key: { id: string; orgId?: string; by: Actor; nowMs: number }): Promise<void>
  /** Rejects with `invalid` when too many have not ended. Gap G6. */
  createMaintenance(window: MaintenanceWindow, by: Actor, nowMs: number): Promise<void>
  /** Windows of an organisation, ordered by start; all of them when `which` is absent. */
  listMaintenance(orgId: string, which?: MaintenanceChoice): Promise<readonly MaintenanceWindow[]>
  /** Replaces a window. Rejects with `invalid` when it has ended, and with `conflict` when it differs from `seen`. */
  changeMaintenance(
    window: MaintenanceWindow,
    by: Actor,
    nowMs: number,
    seen?: MaintenanceWindow,
  ): Promise<void>
  /** Removes a window. Rejects with `invalid` when it has begun: end it instead. */
  cancelMaintenance(window: { id: string; orgId: string }, by: Actor, nowMs: number): Promise<void>
}

/** Windows that end after an instant, or the last `countMax` that ended by an instant. */
export type MaintenanceChoice =
  | { readonly endsAfter: string }
  | { readonly endedBy: string; readonly countMax: number }

/** Overrides of an organisation: absent keeps, `null` removes, a value sets. Regions: codes, or `all`. */
export type LimitOverrides = {
  readonly [Limit in keyof PlanLimits]?:
    | (Limit extends 'regionsAllowed' ? readonly string[] | 'all' : number)
    | null
}

/** Metrics of a store. */
export interface StoreStats {
  readonly unpublishedCommands: number
  /** Instant of the oldest unpublished command (milliseconds since the epoch); `null` when there is none. */
  readonly oldestUnpublishedAtMs: number | null
  readonly databaseBytes: number
  /** Size of the write-ahead log; `null` when other databases share it. */
  readonly logBytes: number | null
  /** `null` when the database is on another machine. */
  readonly diskFreeBytes: number | null
  /** When the last backup of this data folder was written; `null` before the first. */
  readonly lastBackupAtMs: number | null
}

/** Called with the reason when a database no longer responds, and with `null` when it responds again. */
export type OutageListener = (reason: string | null) => void

/** Maintenance of the database. */
export interface UpkeepStore {
  /**
   * Checks for disk space, and fills the reserve. Rejects with `unavailable` when the disk is full: then only deletes,
   * pauses and administration are written, and other writes reject with DiskFullError.
   */
  assertDiskSpace(): Promise<void>
  /** Records `nowMs` as the last use. Rejects when a durable write is not possible. */
  probeWrite(nowMs: number): Promise<void>
  /** The recorded last use (milliseconds since the epoch); `undefined` before the first one. */
  lastUseMs(): Promise<number | undefined>
  /** Sizes of the outbox, the database and its disk. */
  stats(): Promise<StoreStats>
  /** Deletes expired rows, and runs the database's own maintenance. */
  tidy(nowMs: number): Promise<void>
  /** Calls `listener` at the start and at the end of each outage of the database; a file has none. */
  onOutage(listener: OutageListener): void
  /** Calls `listener` after each commit that may have added commands. */
  onCommands(listener: () => void): void
  /** From now on, rejects mutations that would wait for another program's transaction. */
  rejectWaiting(): void
  /** Closes the store after all waiting mutations are durable. */
  close(): Promise<void>
}

/** The row of a held lease, which every transaction of results locks. Each term has its own holder. */
export interface LeaseRow {
  readonly name: string
  readonly holder: string
}

/** The lease of monitoring: one server of a database monitors at a time. */
export interface MonitoringLease {
  /**
   * Renews the lease, or acquires it when it has expired. Resolves to its row, `null` while another server holds it,
   * and to the address of the holder. The row changes when another server held the lease meanwhile. `address` is the
   * URL at which other servers reach the agent port of this one; `null` without one.
   */
  readonly acquire: (
    address: string | null,
  ) => Promise<{ readonly row: LeaseRow | null; readonly address: string | null }>
  readonly release: () => Promise<void>
}

/** All data of the server. Every implementation passes the same tests. */
export interface Store
  extends ServiceStore,
    IncidentStore,
    OutboxStore,
    MonitoringStore,
    AgentTokenStore,
    KeyStore,
    KeyUseStore,
    SecretStore,
    NotificationStore,
    AuditStore,
    AdministrationStore,
    StatusPageStore,
    PublishedStore,
    AccountStore,
    UpkeepStore {
  /** A UUID of this store, renewed by a restore, which resets generations and sequence numbers. Gap G20, Gap G24. */
  readonly storeId: string
  /** Admission that is exact over all processes of the store; `null` when one process serves it. Gap G21. */
  readonly sharedAdmission: Admission | null
  /** `null` where only one server uses the store. */
  readonly monitoringLease: MonitoringLease | null
}
