import * as z from 'zod'
import { ASSERTIONS_MAX, METHODS } from '../../api/contract/service.ts'
import { OUTCOMES, REASONS } from './outcomes.ts'

/** Version of these messages. A server speaks its own and the one before. */
export const PROTOCOL = 1
/** Versions that a server understands; there is none before the first. */
export const PROTOCOLS_UNDERSTOOD: readonly number[] = [PROTOCOL]

/** Where agents ask what to check, and where they hand results over. */
export const SYNC_PATH = '/agent/v1/sync'
export const RESULTS_PATH = '/agent/v1/results'
/** Longest message to a server, after decompression too (bytes). */
export const REQUEST_BYTES_MAX = 4 * 1024 * 1024
/** Messages from this length on are compressed (bytes). */
export const COMPRESSED_BYTES_MIN = 1_024

/** Most results of one message. */
export const BATCH_RESULTS_MAX = 500
/** Longest time that a server may hold a sync back while nothing changes (milliseconds). */
export const WAIT_MS_MAX = 25_000
/** Longest text for people in a result (code points): a sentence, never a body. */
export const REASON_TEXT_CHARS_MAX = 300

/** Largest number in a message, so that a phase of a broken clock is refused before it is stored (microseconds: an hour). */
const MICROSECONDS_MAX = 3_600_000_000
const SERIES_MAX = 2 ** 40
const STATUS_MAX = 999
const ATTEMPTS_MAX = 2
const FLAGS_MAX = 2 ** 16 - 1
const LATE_MS_MAX = 3_600_000
const MEMBERS_MAX = 32
/** Services of one answer: more come with the next. */
const SERVICES_MAX = 200
/** Longest observation in a result, and longest name in a certificate (characters). */
export const OBSERVED_CHARS_MAX = 1_024
/** Furthest instant from the epoch that can be written as a date (milliseconds). */
const INSTANT_MS_MAX = 8_640_000_000_000_000

const count = (max = Number.MAX_SAFE_INTEGER) => z.int().min(0).max(max)
const micros = count(MICROSECONDS_MAX)
const instantMs = z.int().min(-INSTANT_MS_MAX).max(INSTANT_MS_MAX)
const oneOf = (codes: Readonly<Record<string, number>>) =>
  z.int().refine((code) => Object.values(codes).includes(code), { error: 'is not a known code' })

/** The public half of an X25519 key pair: base64 of 32 bytes. */
const publicKeySchema = z.string().length(44)

/** What an agent says of itself and asks for. */
export const syncRequestSchema = z.object({
  protocol: z.int(),
  /** Made at each start of an agent. */
  instance: z.guid(),
  version: z.string().max(64),
  /** Made at each start; `null` for an agent within the server, whose secrets travel in clear. */
  public_key: publicKeySchema.nullable(),
  /** The newest `epoch` that the agent knows; 0 before the first. */
  epoch: count(),
  /** Where the agent stands in the feed; `null` asks for everything. Opaque. */
  cursor: z.string().max(200).nullable(),
  inventory: z.object({ count: count(), hash: z.string().max(64) }),
  wait_ms: count(WAIT_MS_MAX),
  /** Whether this is the last one of the agent: others take over at once. */
  leaving: z.boolean(),
  load: z.object({
    in_flight: count(),
    lag_p99_ms: z.number().min(0),
    /** Slots left out so far. */
    skipped: count(),
    /** Results that wait on disk, and results that were given up so far. */
    spooled: count(),
    dropped: count(),
    /** How far the wall clock of the agent's machine is ahead of the server's (milliseconds). */
    clock_ahead_ms: z.number(),
    /** Whether so many hosts are out of reach at once that the agent doubts its own network; older agents do not say. */
    suspect: z.boolean().default(false),
  }),
})
export type SyncRequest = z.infer<typeof syncRequestSchema>

/**
 * A header value or body. A secret is in clear within a process, and marked as one; over the network it is sealed to the
 * session of the agent, whose link opens it.
 */
const callValueSchema = z.union([
  z.object({ plain: z.string() }),
  z.object({ secret: z.string() }),
  z.object({ sealed: z.string() }),
])
export type CallValue = z.infer<typeof callValueSchema>

/** One URL to be checked, as one region gets it. */
export const endpointTaskSchema = z.object({
  id: z.guid(),
  series: count(SERIES_MAX),
  url: z.string(),
  /** Never contacted: its address is forbidden. */
  blocked: z.boolean(),
  /** Read one by one by the agent: an older one does not know every kind. */
  assertions: z.array(z.unknown()).max(ASSERTIONS_MAX),
  call: z.object({
    method: z.enum(METHODS),
    timeout_ms: z.number().positive(),
    redirects: count(),
    with_dns: z.boolean(),
    headers: z.array(z.tuple([z.string(), callValueSchema])),
    body: callValueSchema.nullable(),
  }),
})
export type EndpointTask = z.infer<typeof endpointTaskSchema>

/** A service that an agent runs from now on, whatever it ran of it before. */
export const startedServiceSchema = z.object({
  service: z.guid(),
  /** For the limit of an organisation's checks in flight. */
  org: z.guid(),
  generation: count(),
  interval_s: count(),
  /** Whether what was not running is checked at once. */
  first: z.boolean(),
  endpoints: z.array(endpointTaskSchema),
})
export type StartedService = z.infer<typeof startedServiceSchema>

/** What changed behind the cursor: each service as it is by now. */
export const syncAnswerSchema = z.object({
  protocol: z.int(),
  /** Identity of the store. Generations of another one say nothing. */
  store: z.guid(),
  region: z.string(),
  now_ms: count(),
  /** How long the server held the answer back: what is left of the time of the exchange is that of the way. */
  waited_ms: count(),
  /** Another number whenever `members` changed. */
  epoch: count(),
  /** Instances that share the endpoints of the region; none while it is checked by the server itself, or not at all. */
  members: z.array(z.guid()).max(MEMBERS_MAX),
  cursor: z.string().max(200),
  /** Whether the answer is a page of everything: what no page named ends with the last. */
  whole: z.boolean(),
  /** Whether the next page is there already. */
  more: z.boolean(),
  start: z.array(startedServiceSchema).max(SERVICES_MAX),
  end: z.array(z.object({ service: z.guid(), generation: count() })).max(SERVICES_MAX),
  /** What the agent needs to open sealed values; `null` where there are none. */
  sealing: z.object({ public_key: publicKeySchema, salt: z.string().max(64) }).nullable(),
  inventory: z.enum(['same', 'different']),
  /** Private ranges that the server allows: an agent checks only what both allow. An older server, which names none, allows none. */
  ranges_allowed: z.array(z.string()).default([]),
  /** Addresses of the server's machine, forbidden unless one of these ranges has them. Older servers do not name them. */
  server_addresses: z.array(z.string()).default([]),
})
export type SyncAnswer = z.infer<typeof syncAnswerSchema>

/**
 * A result: series, generation of the service, when it was due (s), how late it started (ms), outcome, reason, status (0
 * without one), attempts, flags (`responseFacts.ts`), then microseconds: total, dns, connect, tls, wait, body.
 */
export const resultRowSchema = z.tuple([
  count(SERIES_MAX),
  count(),
  count(),
  count(LATE_MS_MAX),
  oneOf(OUTCOMES),
  oneOf(REASONS),
  count(STATUS_MAX),
  count(ATTEMPTS_MAX),
  count(FLAGS_MAX),
  micros,
  micros,
  micros,
  micros,
  micros,
  micros,
])
export type ResultRow = z.infer<typeof resultRowSchema>

/** What there is to say of a result that is not simply up. */
export const resultDetailSchema = z.object({
  series: count(SERIES_MAX),
  due_s: count(),
  /** For people, without a secret. */
  text: z.string().max(2 * REASON_TEXT_CHARS_MAX),
  /** Places of the assertions that failed, as a bitmap. */
  failed: count(2 ** ASSERTIONS_MAX - 1),
  /** Of the first assertion that failed; never a body. */
  expected: z.string().max(OBSERVED_CHARS_MAX).nullable(),
  seen: z.string().max(OBSERVED_CHARS_MAX).nullable(),
  /** The first of two attempts. */
  first: z.object({ reason: oneOf(REASONS), total_us: micros }).nullable(),
})
export type ResultDetail = z.infer<typeof resultDetailSchema>

/** A certificate that a target showed. */
export const certificateSeenSchema = z.object({
  series: count(SERIES_MAX),
  host: z.string().max(255),
  port: count(65_535),
  fingerprint: z.string().max(128),
  subject: z.string().max(OBSERVED_CHARS_MAX),
  issuer: z.string().max(OBSERVED_CHARS_MAX),
  serial: z.string().max(128),
  not_before_ms: instantMs,
  not_after_ms: instantMs,
  /** The earliest end of all certificates that were sent, the root left out. */
  chain_not_after_ms: instantMs,
})
export type CertificateSeen = z.infer<typeof certificateSeenSchema>

/** Results on their way to the server; the same batch comes again until it is acknowledged. */
export const resultsRequestSchema = z.object({
  protocol: z.int(),
  /** The store whose series these are. */
  store: z.guid(),
  instance: z.guid(),
  batch: count(),
  sent_ms: count(),
  results: z.array(resultRowSchema).max(BATCH_RESULTS_MAX),
  details: z.array(resultDetailSchema).max(BATCH_RESULTS_MAX),
  certificates: z.array(certificateSeenSchema).max(BATCH_RESULTS_MAX),
})
export type ResultsRequest = z.infer<typeof resultsRequestSchema>

/** Why a result was not taken. It is not sent again. */
export const REFUSALS = ['superseded', 'ended', 'unknown_series', 'clock', 'too_old', 'other_store'] as const
export type Refusal = (typeof REFUSALS)[number]

/** After the commit. */
export interface ResultsAnswer {
  readonly batch: number
  readonly stored: number
  /** How many were there already. */
  readonly known: number
  readonly refused: readonly (readonly [series: number, dueS: number, refusal: Refusal])[]
  readonly now_ms: number
}
