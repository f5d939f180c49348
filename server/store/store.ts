import type { Incident } from '../../api/contract/incident.ts'
import type { Section, Severity } from '../../api/contract/incidentTerms.ts'
import type { Scope } from '../../api/contract/org.ts'
import type { Actor } from '../domain/accounts/actor.ts'
import type { Allowance } from '../domain/allowance.ts'
import type { Caller } from '../domain/apiKeys.ts'
import type { AutoIncidentSettings } from '../domain/autoIncidentSettings.ts'
import type { ChangeOrigin } from '../domain/changeOrigin.ts'
import type { Command, Delivery } from '../domain/commands.ts'
import type { IncidentFacts } from '../domain/incidentChanges.ts'
import type { IncidentRoom } from '../domain/incidentRoom.ts'
import type { OrgStanding, OrgUsage, PlanLimits } from '../domain/planLimits.ts'
import type { SealedValue } from '../domain/seal.ts'
import type { Service, ServiceChange } from '../domain/serviceChanges.ts'
import type { AccountStore } from './accountStore.ts'
import type { AgentTokenStore, MonitoringStore } from './monitoringStore.ts'
import type { PublishedStore, StatusPageStore } from './statusPageStore.ts'
import type { AuditStore, NotificationStore } from './notificationStore.ts'

/** A service in an answer: ServiceResponse as JSON text, and the generation of its ETag. */
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
  readonly standing: OrgStanding
  /** Id of the master key that wraps new secrets. */
  readonly masterKeyId: string
}

/** A snapshot of a list too long for memory; it is held until it is closed. */
export interface LongList {
  /** Total of all pieces (bytes); absent when it is known only at the end. */
  readonly length?: number
  /** One JSON text, bytes of UTF-8, an array in the store. Fails when the database cannot be read. */
  readonly pieces: AsyncIterable<Uint8Array>
  /** Must always be called: the database grows with every change until then. */
  readonly close: () => Promise<void>
}

/** The services of an organisation. */
export interface ServiceStore {
  /** All services of the organisation in creation order. */
  listServices(orgId: string): Promise<readonly RenderedService[]>
  /**
   * The same as one JSON array, bytes of UTF-8: the answer to a list, without parsing each service. `undefined` when it
   * is too long for that.
   */
  renderServices(orgId: string): Promise<Uint8Array | undefined>
  /** The same array in pieces, of any length. */
  openServices(orgId: string): Promise<LongList>
  /** The generation of each service of the organisation by its id. */
  serviceGenerations(orgId: string): Promise<ReadonlyMap<string, number>>
  /** `undefined` when the organisation has no such service. */
  getService(orgId: string, serviceId: string): Promise<RenderedService | undefined>
  /**
   * Stores the result of `decide` with its secrets and commands, or returns the answer stored for the same `fingerprint`.
   * Rejects with the errors of `decide`, and with `invalid` when `fingerprint` was used for another body.
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
  /** The generations of a service that are kept, the newest first; of a deleted one its deletion comes first. Gap G48. */
  generationsOf(serviceId: string): Promise<readonly ServiceGeneration[]>
  /** Where the services of the organisation come from, by name. */
  listOrigins(orgId: string): Promise<readonly ServiceOrigins[]>
}

/** A service, and where its changes come from. */
export interface ServiceOrigins {
  readonly id: string
  readonly name: string
  /** The newest first; only the current one unless a person made it. `null` for an origin that was not kept. */
  readonly origins: readonly (ChangeOrigin | null)[]
}

/** A generation of a service: what it was, and where it came from. */
export interface ServiceGeneration {
  readonly generation: number
  /** When the next one came (milliseconds since the epoch); `null` for the current one. */
  readonly untilMs: number | null
  /** `null` when it was not kept, as of what was made by earlier releases. */
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
   * One page, newest first, and the total number. `yieldTurn` is awaited between slices of a long search: incidents
   * changed meanwhile are returned in their newer form, new ones are not found.
   */
  listIncidents(orgId: string, filter: IncidentFilter, yieldTurn: () => Promise<void>): Promise<IncidentList>
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
    decide: (incident: Incident, room: IncidentRoom) => Incident,
  ): Promise<Incident | undefined>
  /** Authors of the updates of an incident, by the id of the update; those of automation and earlier releases are absent. */
  incidentAuthors(incidentId: string): Promise<ReadonlyMap<string, IncidentAuthor>>
}

/** Who wrote an update of an incident. */
export interface IncidentAuthor {
  readonly kind: 'person' | 'key'
  /** E-mail address of the person, or the last four characters of the key; `null` when it is no longer stored. */
  readonly name: string | null
}

/** A logged command. */
export interface LoggedCommand extends Command {
  /** Its position in the order of publication. */
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
  /** Only those after this one. */
  readonly afterSequence?: number
  readonly countMax?: number
}

/** A position in the order of commands: opaque, and specific to one store. '' is before all commands. */
export type Cursor = string

/** Commands after a cursor, as delivered to their regions. */
export interface DeliveryPage {
  readonly deliveries: readonly Delivery[]
  /** After the last of them. */
  readonly next: Cursor
}

/** Commands between the transaction that made them and their readers. Contract: Events, rule 3. */
export interface OutboxStore {
  /**
   * Committed commands after `cursor` in order, at most `countMax` and with definitions of 8
   * MiB in total; empty only when there are no more. A later call never finds one before `next`.
   */
  commandsAfter(cursor: Cursor, countMax: number): Promise<DeliveryPage>
  /** Position of the named reader; '' when it never moved. */
  cursorOf(reader: string): Promise<Cursor>
  /** Moves the named reader; false, and unchanged, when it is no longer at `from`. */
  moveCursor(reader: string, from: Cursor, to: Cursor): Promise<boolean>
  /** The stored commands that match `filter`, in order. */
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

/** Admits a key and spends its token in one step. */
export interface Admission {
  /** `undefined` when the key is unknown or revoked. */
  admit(keyHash: Buffer): Promise<{ readonly caller: Caller; readonly allowance: Allowance } | undefined>
}

/** Stored secrets, for rotation and for the regions. */
export interface SecretStore {
  /** Ids of the master keys in use, the active one first; empty before the first start. */
  masterKeyIds(): Promise<readonly string[]>
  /** Makes `id` the key for new secrets; earlier secrets keep theirs until they are rewrapped. */
  activateMasterKey(id: string, nowMs: number): Promise<void>
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
  /** Who requested it, in words; `null` when that is not known. */
  readonly createdBy: string | null
  /** What it is for; `null` when that was not given. */
  readonly note: string | null
  /** Last use (milliseconds since the epoch), up to a minute late; `null` when it was never used. */
  readonly usedAtMs: number | null
  /** First product of the User-Agent of that use; `null` when it named none. */
  readonly usedBy: string | null
}

/** A use of a key. */
export interface KeyUse {
  readonly keyId: string
  readonly atMs: number
  /** `null` when the client named none. */
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

/** Limits of an organisation, with its overrides, and what it uses of them. */
export interface OrgUse {
  readonly limits: PlanLimits
  readonly usage: OrgUsage
  /** Size of its incidents (bytes). */
  readonly incidentBytes: number
}

/**
 * Administration that the API document leaves to a dashboard. What has no actor is done by the operator. Methods reject with
 * `not_found` for an unknown id.
 */
export interface AdministrationStore {
  createOrg(org: { id: string; name: string; plan: string; nowMs: number }): Promise<void>
  listOrgs(): Promise<readonly StoredOrg[]>
  setPlan(orgId: string, plan: string): Promise<void>
  renameOrg(change: { orgId: string; name: string; by: Actor; nowMs: number }): Promise<void>
  /** What the organisation uses of its limits. */
  orgUse(orgId: string): Promise<OrgUse>
  /** Limits of this organisation that override its plan's; `null` removes an override. */
  overrideLimits(orgId: string, overrides: LimitOverrides): Promise<void>
  /** Automatic incidents of services created later; `null` for none. */
  setDefaultAutoIncidents(orgId: string, settings: AutoIncidentSettings | null): Promise<void>
  listPlans(): Promise<readonly Plan[]>
  createKey(key: {
    id: string
    orgId: string
    scope: Scope
    hash: Buffer
    last4: string
    createdBy: string | null
    note: string | null
    by: Actor
    nowMs: number
  }): Promise<void>
  listKeys(orgId: string): Promise<readonly StoredKey[]>
  /** Revokes the key with this id; of another organisation than `orgId`, if that is given, it is unknown. */
  revokeKey(key: { id: string; orgId?: string; by: Actor; nowMs: number }): Promise<void>
  /** Rejects with `invalid` when too many have not ended. Gap G6. */
  createMaintenance(window: MaintenanceWindow, by: Actor, nowMs: number): Promise<void>
  /** Windows in the order of their beginning: all of an organisation when `which` is absent. */
  listMaintenance(orgId: string, which?: MaintenanceChoice): Promise<readonly MaintenanceWindow[]>
  /**
   * Replaces a window that has not ended. Rejects with `invalid` when it has, and with `conflict` when it is not as in `seen`
   * any more.
   */
  changeMaintenance(
    window: MaintenanceWindow,
    by: Actor,
    nowMs: number,
    seen?: MaintenanceWindow,
  ): Promise<void>
  /** Removes a window that has not begun. Rejects with `invalid` when it has: end it instead. */
  cancelMaintenance(window: { id: string; orgId: string }, by: Actor, nowMs: number): Promise<void>
}

/** Windows that end after an instant, or the `countMax` that ended last, by an instant. */
export type MaintenanceChoice =
  | { readonly endsAfter: string }
  | { readonly endedBy: string; readonly countMax: number }

/** Overrides of an organisation: absent keeps, `null` removes, a value sets. Regions: codes, or `all`. */
export interface LimitOverrides {
  readonly servicesMax?: number | null
  readonly endpointsMax?: number | null
  readonly serviceEndpointsMax?: number | null
  readonly intervalSecsMin?: number | null
  readonly incidentsMibMax?: number | null
  readonly resultsDays?: number | null
  readonly regionsAllowed?: readonly string[] | 'all' | null
}

/** What an operator watches of a store. */
export interface StoreFigures {
  readonly unpublishedCommands: number
  /** Instant of the oldest unpublished command (milliseconds since the epoch); `null` when there is none. */
  readonly oldestUnpublishedAtMs: number | null
  readonly databaseBytes: number
  /** Of the write-ahead log; `null` when it is not of this database alone. */
  readonly logBytes: number | null
  /** `null` when the database is on another machine. */
  readonly diskFreeBytes: number | null
  /** When the last backup of this data folder was written; `null` before the first. */
  readonly lastBackupAtMs: number | null
}

/** Maintenance of the database. */
export interface UpkeepStore {
  /**
   * Checks for disk space, and fills the reserve. Rejects with `unavailable` when there is none: then only deletes,
   * pauses and administration are written, and everything else rejects with DiskFullError.
   */
  assertRoom(): Promise<void>
  /** Rejects when a durable write is not possible. */
  probeWrite(nowMs: number): Promise<void>
  /** How full the outbox, the database and its disk are. */
  figures(): Promise<StoreFigures>
  /** Deletes expired rows, and runs the database's own maintenance. */
  tidy(nowMs: number): Promise<void>
  /** Calls `listener` after each commit that may have added commands. */
  onCommands(listener: () => void): void
  /** From now on no mutation waits for another program's transaction: a mutation that would is rejected. */
  waitNoMore(): void
  /** Closes the store after all waiting mutations are durable. */
  close(): Promise<void>
}

/** Which of the servers on one database monitors: one at a time. */
export interface MonitoringTurn {
  /** What a transaction of results has to hold. */
  readonly lease: { readonly name: string; readonly holder: string }
  /**
   * Takes the turn, or keeps it for some seconds more; whether it is this server's, and the address of the one that has it.
   * `address` is where other servers reach the agent port of this one; `null` where it has none.
   */
  readonly take: (
    address: string | null,
  ) => Promise<{ readonly isMine: boolean; readonly address: string | null }>
  readonly giveBack: () => Promise<void>
}

/** All data of the server, in domain terms. Every implementation must pass the same tests. */
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
  readonly monitoringTurn: MonitoringTurn | null
}
