import type { Incident } from '../../api/contract/incident.ts'
import type { Section, Severity } from '../../api/contract/incidentTerms.ts'
import type { Scope } from '../../api/contract/org.ts'
import type { Allowance } from '../domain/allowance.ts'
import type { AutoIncidentSettings } from '../domain/autoIncidentSettings.ts'
import type { Caller } from '../domain/apiKeys.ts'
import type { ChangeOrigin } from '../domain/changeOrigin.ts'
import type { Command, Delivery } from '../domain/commands.ts'
import type { IncidentFacts } from '../domain/incidentChanges.ts'
import type { IncidentRoom } from '../domain/incidentRoom.ts'
import type { HistoryPolicy } from '../domain/historyPolicy.ts'
import type { OrgStanding, PlanLimits } from '../domain/planLimits.ts'
import type { SealedValue } from '../domain/seal.ts'
import type { Service, ServiceChange } from '../domain/serviceChanges.ts'

/** A service as it is answered: ServiceResponse as JSON text, and the generation that its ETag names. */
export interface RenderedService {
  readonly text: string
  readonly generation: number
}

/** An Idempotency-Key as it is stored: neither key nor body can be read back from it. Gap G20. */
export interface CreationMark {
  /** Hash of operation and key. */
  readonly keyHash: Buffer
  /** Of the body, under the key: without the key a guessable secret in the body cannot be tried. */
  readonly bodyMark: Buffer
  /** The same as schemas up to 2 stored it, for 24 hours after an upgrade: the order of members counted. */
  readonly earlierBodyMark: () => Buffer
}

/** The decision about a creation: pure, made in the transaction that writes. */
export type Decide<Facts, Outcome> = (facts: Facts) => Outcome

/** The facts for a decision about a service, read in the transaction that writes. */
export interface ServiceFacts {
  readonly standing: OrgStanding
  /** Id of the master key that new secrets are wrapped with. */
  readonly masterKeyId: string
}

/** A list that is too long to be held at once, as it was at one instant, which is kept until it is closed. */
export interface LongList {
  /** Of all pieces together (bytes); absent when that is known only at their end. */
  readonly length?: number
  /** One JSON text, bytes of UTF-8, an array in the store. Fails when the database cannot be read. */
  readonly pieces: AsyncIterable<Uint8Array>
  /** Has to be called whatever happened: the database grows with every change until then. */
  readonly close: () => Promise<void>
}

/** The services of an organisation. */
export interface ServiceStore {
  /** All services of the organisation in the order of their creation. */
  listServices(orgId: string): Promise<readonly RenderedService[]>
  /**
   * The same as one JSON array, bytes of UTF-8: the answer to a list, without a value made of each service.
   * `undefined` when it is too long for that.
   */
  renderServices(orgId: string): Promise<Uint8Array | undefined>
  /** The same array in pieces, however long it is. */
  openServices(orgId: string): Promise<LongList>
  /** `undefined` when the organisation has no such service. */
  getService(orgId: string, serviceId: string): Promise<RenderedService | undefined>
  /**
   * Stores what `decide` makes, secrets and commands with it, or answers again what the same `mark` made.
   * Rejects with what `decide` throws, and with `invalid` when `mark` was used for another body.
   */
  createService(
    orgId: string,
    mark: CreationMark | undefined,
    decide: Decide<ServiceFacts, ServiceChange>,
  ): Promise<RenderedService>
  /**
   * Stores what `decide` makes of the service; `null` from it changes nothing. Resolves to the service
   * afterwards (as it last was, when deleted), or `undefined` when the organisation has no such service.
   */
  changeService(
    orgId: string,
    serviceId: string,
    decide: (service: Service, facts: ServiceFacts) => ServiceChange | null,
  ): Promise<RenderedService | undefined>
  /** The generations of a service that are kept, the newest first; of a deleted one its deletion comes first. Gap G48. */
  generationsOf(serviceId: string): Promise<readonly ServiceGeneration[]>
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

/** Which incidents a list shows. Filters that are `undefined` let everything pass; those given all hold. */
export interface IncidentFilter {
  readonly section: Section
  /** Found in title or display id, whatever the case. */
  readonly q: string | undefined
  readonly severity: Severity | undefined
  /** Any of these; empty lets everything pass. */
  readonly serviceIds: readonly string[]
  /** From 1. */
  readonly page: number
  readonly limit: number
}

/** A page of incidents: whole, or to be opened when it is too long to be held at once. */
export type IncidentList =
  | { readonly total: number; readonly items: readonly Incident[] }
  | { readonly total: number; readonly openItems: () => Promise<LongList> }

/** The incidents of an organisation; maintenance windows are never among them. Contract: Rules, 4. */
export interface IncidentStore {
  getIncident(orgId: string, incidentId: string): Promise<Incident | undefined>
  /**
   * One page, newest first, and how many there are in all. `giveWay` is awaited between slices of a search that takes long:
   * incidents that change meanwhile are found as they are by then, those that are made meanwhile are not.
   */
  listIncidents(orgId: string, filter: IncidentFilter, giveWay: () => Promise<void>): Promise<IncidentList>
  /** As `createService`. `wantedServiceIds` are those whose ownership `decide` is told. */
  createIncident(
    orgId: string,
    wantedServiceIds: readonly string[],
    mark: CreationMark | undefined,
    decide: Decide<IncidentFacts, Incident>,
  ): Promise<Incident>
  /** Stores what `decide` makes of the incident; `undefined` when the organisation has no such incident. */
  changeIncident(
    orgId: string,
    incidentId: string,
    decide: (incident: Incident, room: IncidentRoom) => Incident,
  ): Promise<Incident | undefined>
}

/** A command as it is logged. */
export interface LoggedCommand extends Command {
  /** Its place in the order of publication. */
  readonly sequence: number
  /** `null` for a service that was deleted before schema 3. */
  readonly orgId: string | null
  readonly createdAtMs: number
  readonly isPublished: boolean
}

/** Which commands a list shows; absent members let everything pass. */
export interface CommandFilter {
  readonly orgId?: string | undefined
  readonly serviceId?: string | undefined
  readonly region?: string | undefined
  /** Only those that are not published yet. */
  readonly isUnpublished?: boolean
  /** Only those behind this one. */
  readonly afterSequence?: number
  readonly countMax?: number
}

/** A place in the order of commands: opaque, and of one store. '' is before all commands. */
export type Cursor = string

/** Commands behind a cursor, as their regions get them. */
export interface DeliveryPage {
  readonly deliveries: readonly Delivery[]
  /** Behind the last of them; on a reset, behind every command that there was. */
  readonly next: Cursor
  /** The cursor is of another store, or commands behind it are deleted: the reader has to begin with the assignments. */
  readonly isReset: boolean
}

/** A service that a region has to run. */
export interface Assignment {
  readonly serviceId: string
  /** Of the last published change. */
  readonly generation: number
  /** The service as the API shows it, JSON. */
  readonly definition: string
}

/** Commands between the transaction that made them and their readers. Contract: Events, rule 3. */
export interface OutboxStore {
  /**
   * Committed commands behind `cursor` in order, for one region or for all, at most `countMax` and with definitions of 8 MiB
   * together; none only when there are no more. A later call never finds one in front of `next`.
   */
  commandsAfter(cursor: Cursor, countMax: number, region?: string): Promise<DeliveryPage>
  /** Where the named reader stands; '' when it never moved. */
  cursorOf(reader: string): Promise<Cursor>
  /** Moves the named reader; false, and nothing moved, when it does not stand at `from` any more. */
  moveCursor(reader: string, from: Cursor, to: Cursor): Promise<boolean>
  /** What `region` has to run, by service id from behind `afterServiceId` on, bounded as `commandsAfter`. */
  assignments(region: string, afterServiceId: string, countMax: number): Promise<readonly Assignment[]>
  /** The commands that are kept and pass `filter`, in order. */
  listCommands(filter?: CommandFilter): Promise<readonly LoggedCommand[]>
}

/** The reader whose commands count as published: older ones may be deleted. */
export const BUS_READER = 'bus'

/** Where the checks of a region run: in the server itself, in agents of its own, or nowhere. */
export const REGION_MODES = ['embedded', 'remote', 'off'] as const
export type RegionMode = (typeof REGION_MODES)[number]

/** A service as it is monitored. */
export interface StoredDefinition {
  readonly id: string
  readonly orgId: string
  /** Of its last published definition. */
  readonly generation: number
  /** Codes of the regions that it runs in; none while it is paused. */
  readonly runningIn: readonly string[]
  /** ServiceResponse as JSON. */
  readonly text: string
}

/** A transition of a file of results. */
export interface Transition {
  /** Its place in the file. */
  readonly sequence: number
  /** Seconds since the epoch. */
  readonly atS: number
  readonly serviceId: string
  readonly kind: string
  /** JSON, of a shape that follows from `kind`. */
  readonly body: string
}

/** What a transition changed; `incident` is a display id. */
export type AppliedEffect =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'opened' | 'updated' | 'resolved'; readonly incident: string }
  /** What was due was not written, for a reason that does not pass by itself. */
  | { readonly kind: 'refused'; readonly reason: string }

/** What monitoring needs: definitions as they are now, and which of them changed. */
export interface MonitoringStore {
  /** Services by id, those behind `serviceId` ('' for all), at most `countMax` and some MiB; none only at the end. */
  definitionsAfter(serviceId: string, countMax: number): Promise<readonly StoredDefinition[]>
  /** `undefined` when there is no such service. */
  definitionOf(serviceId: string): Promise<StoredDefinition | undefined>
  /** Sequence of the newest command; 0 before the first. */
  newestCommand(): Promise<number>
  /** Sequence of the newest command that was forgotten; who stands before it has missed something. */
  commandsForgottenUpTo(): Promise<number>
  /** Services with commands behind `after` and up to `upTo`, of one region or any, by their newest command. */
  changedServices(range: {
    readonly after: number
    readonly upTo: number
    readonly region?: string
    readonly countMax: number
  }): Promise<readonly { readonly serviceId: string; readonly sequence: number }[]>
  /** Sequence of the newest change of a service of which no region is told; 0 before the first. */
  newestQuietChange(): Promise<number>
  /** Services with such changes behind `after`, by their newest one. */
  quietChanges(
    after: number,
    countMax: number,
  ): Promise<readonly { readonly serviceId: string; readonly sequence: number }[]>
  /** How long history is stored, by organisation, and maintenance windows that end after `endAfterMs`. */
  historyPolicy(endAfterMs: number): Promise<HistoryPolicy>
  /** Numbers of the endpoints of a service, by their ids, those that it no longer has included. */
  endpointNumbers(serviceId: string): Promise<ReadonlyMap<string, number>>
  /** Numbers endpoints that have no number yet. */
  numberEndpoints(endpoints: readonly { readonly id: string; readonly serviceId: string }[]): Promise<void>
  /** Modes that were set, by region code; `embedded` for all others. */
  regionModes(): Promise<ReadonlyMap<string, RegionMode>>
  setRegionMode(region: string, mode: RegionMode): Promise<void>
  /** Sequence of the newest transition of a file of results that was applied; 0 before the first. */
  appliedTransition(resultsFile: string): Promise<number>
  /**
   * Applies a transition of a file of results, the next one behind `after`, and marks it as applied in the same transaction.
   * Rejects when another one was applied last.
   */
  applyTransition(resultsFile: string, after: number, transition: Transition): Promise<AppliedEffect>
}

/** Who may report results of a region. */
export interface AgentToken {
  readonly id: string
  readonly region: string
  readonly name: string
}

export interface StoredAgentToken extends AgentToken {
  readonly last4: string
  readonly createdAt: string
  readonly revokedAt: string | null
}

/** Tokens with which agents on other machines check a region. */
export interface AgentTokenStore {
  /** The region becomes `remote` with its first token that is not revoked. */
  createAgentToken(
    token: AgentToken & { readonly hash: Buffer; readonly last4: string; readonly nowMs: number },
  ): Promise<void>
  /** All tokens, those that were revoked included, in the order of their creation. */
  listAgentTokens(): Promise<readonly StoredAgentToken[]>
  /** Rejects with `not_found` when there is no token with this id. */
  revokeAgentToken(id: string, nowMs: number): Promise<void>
  /** The token of this hash; `undefined` when it is unknown or revoked. */
  agentTokenOf(hash: Buffer): Promise<AgentToken | undefined>
}

/** Whether keys may call, read at every request: a revoked key stops at once. */
export interface KeyStore {
  /** Who calls with the key of this hash; `undefined` when it is unknown or revoked. */
  callerOf(keyHash: Buffer): Promise<Caller | undefined>
}

/** Admits a key and spends its token in one step. */
export interface Admission {
  /** `undefined` when the key is unknown or revoked. */
  admit(keyHash: Buffer): Promise<{ readonly caller: Caller; readonly allowance: Allowance } | undefined>
}

/** Secrets as they are stored, for rotation and for the regions. */
export interface SecretStore {
  /** Ids of the master keys that the database names, the active one first; empty before the first start. */
  masterKeyIds(): Promise<readonly string[]>
  /** Makes `id` the key for new secrets; earlier ones keep theirs until they are rewrapped. */
  activateMasterKey(id: string, nowMs: number): Promise<void>
  /** Forgets `id`. Rejects when a secret still needs it. */
  retireMasterKey(id: string): Promise<void>
  /** The secrets of one service. */
  sealedValues(serviceId: string): Promise<readonly SealedValue[]>
  /** Rewraps at most `countMax` secrets that are under another key than `activeId`; how many it did. */
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
  /** The note of who asked for it; `null` when there is none. */
  readonly createdBy: string | null
}

/** A planned interruption; it shares its table with incidents, so that it has to be kept out of their routes. */
export interface MaintenanceWindow {
  readonly id: string
  readonly orgId: string
  readonly title: string
  readonly startsAt: string
  readonly endsAt: string
  readonly serviceIds: readonly string[]
}

/** Administration that the API document leaves to a dashboard. Methods that name something unknown reject with `not_found`. */
export interface AdministrationStore {
  createOrg(org: { id: string; name: string; plan: string; nowMs: number }): Promise<void>
  listOrgs(): Promise<readonly StoredOrg[]>
  setPlan(orgId: string, plan: string): Promise<void>
  /** Limits that hold for this organisation instead of its plan's; `null` removes an override. */
  overrideLimits(orgId: string, overrides: LimitOverrides): Promise<void>
  /** What services that are made later get; `null`: no automatic incidents. */
  setDefaultAutoIncidents(orgId: string, settings: AutoIncidentSettings | null): Promise<void>
  listPlans(): Promise<readonly Plan[]>
  createKey(key: {
    id: string
    orgId: string
    scope: Scope
    hash: Buffer
    last4: string
    createdBy: string | null
    nowMs: number
  }): Promise<void>
  listKeys(orgId: string): Promise<readonly StoredKey[]>
  /** Revokes the key with this id. */
  revokeKey(keyId: string, nowMs: number): Promise<void>
  createMaintenance(window: MaintenanceWindow, nowMs: number): Promise<void>
  listMaintenance(orgId: string): Promise<readonly MaintenanceWindow[]>
}

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

/** Keeping the database well. */
export interface UpkeepStore {
  /**
   * Looks whether there is room for what grows, and holds some back for what frees it. Rejects with `unavailable` when
   * there is none: only deletes, pauses and administration are written then, and all else rejects with DiskFullError.
   */
  assertRoom(): Promise<void>
  /** Rejects when a durable write is not possible. */
  probeWrite(nowMs: number): Promise<void>
  /** Deletes expired rows, and lets the database tidy itself. */
  tidy(nowMs: number): Promise<void>
  /** Calls `listener` after each commit that may have added commands. */
  onCommands(listener: () => void): void
  /** From now on no mutation waits for another program's transaction: a mutation that would is rejected. */
  waitNoMore(): void
  /** Ends after everything that waits is durable. */
  close(): Promise<void>
}

/** All data of the server, in the domain's words. A second implementation has to pass the same tests. */
export interface Store
  extends ServiceStore,
    IncidentStore,
    OutboxStore,
    MonitoringStore,
    AgentTokenStore,
    KeyStore,
    SecretStore,
    AdministrationStore,
    UpkeepStore {
  /** A UUID of this store, which a restore renews: its generations and sequence numbers go back. Gap G20, Gap G24. */
  readonly storeId: string
}
