import * as z from 'zod'
import { ASSERTIONS_MAX, METHODS } from '../../api/contract/service.ts'
import { OUTCOMES, REASONS } from './outcomes.ts'

/** Version of these messages. A server supports its own version and the previous one. */
export const PROTOCOL = 1
/** Versions that a server understands. Version 1 has no predecessor. */
export const PROTOCOLS_UNDERSTOOD: readonly number[] = [PROTOCOL]

/** Paths where agents request their checks, and deliver results. */
export const SYNC_PATH = '/agent/v1/sync'
export const RESULTS_PATH = '/agent/v1/results'
/** Maximum size of a message to a server, before and after decompression (bytes). */
export const REQUEST_BYTES_MAX = 4 * 1024 * 1024
/** Minimum size of a message that is compressed (bytes). */
export const COMPRESSED_BYTES_MIN = 1_024

/** Maximum number of results in one message. */
export const BATCH_RESULTS_MAX = 500
/** Maximum time for which a server delays the response to a sync while nothing changes (milliseconds). */
export const WAIT_MS_MAX = 25_000
/** Maximum length of the text for people in a result (code points): a sentence, never a body. */
export const REASON_TEXT_CHARS_MAX = 300

/**
 * Maximum duration in a message, an hour, so that a phase measured by a broken clock is refused before it is stored
 * (microseconds).
 */
export const MICROSECONDS_MAX = 3_600_000_000
const SERIES_MAX = 2 ** 40
const STATUS_MAX = 999
const ATTEMPTS_MAX = 2
const FLAGS_MAX = 2 ** 16 - 1
/** Maximum delay of a check in a message (milliseconds). */
export const LATE_MS_MAX = 3_600_000
const MEMBERS_MAX = 32
/** Maximum number of services in one response. The next response has the rest. */
const SERVICES_MAX = 200
/** Maximum length of an observed value in a result, and of a name in a certificate (characters). */
export const OBSERVED_CHARS_MAX = 1_024
/** Maximum distance from the epoch of an instant that can be written as a date (milliseconds). */
const INSTANT_MS_MAX = 8_640_000_000_000_000

const count = (max = Number.MAX_SAFE_INTEGER) => z.int().min(0).max(max)
const micros = count(MICROSECONDS_MAX)
/** A text that is stored. Not every database stores U+0000. */
const storedText = (charsMax: number) =>
  z
    .string()
    .max(charsMax)
    .refine((text) => !text.includes('\0'), { error: 'must not contain U+0000' })
const instantMs = z.int().min(-INSTANT_MS_MAX).max(INSTANT_MS_MAX)
const oneOf = (codes: Readonly<Record<string, number>>) =>
  z.int().refine((code) => Object.values(codes).includes(code), { error: 'is not a known code' })

/** The public half of an X25519 key pair: base64 of 32 bytes. */
const publicKeySchema = z.string().length(44)

/** The report of an agent about itself, and its request for changes. */
export const syncRequestSchema = z.object({
  protocol: z.int(),
  /** New at each start of an agent. */
  instance: z.guid(),
  version: storedText(64),
  /** New at each start; `null` for an agent inside the server, which receives secrets in plain text. */
  public_key: publicKeySchema.nullable(),
  /** The newest `epoch` that the agent knows; 0 before the first. */
  epoch: count(),
  /** Position of the agent in the feed; `null` requests everything. Opaque. */
  cursor: z.string().max(200).nullable(),
  inventory: z.object({ count: count(), hash: z.string().max(64) }),
  wait_ms: count(WAIT_MS_MAX),
  /** Whether this is the agent's last request, after which others take over immediately. */
  leaving: z.boolean(),
  load: z.object({
    in_flight: count(),
    lag_p99_ms: z.number().min(0),
    /** Number of slots skipped so far. */
    skipped: count(),
    /** Numbers of results that wait on disk, and that were dropped so far. */
    spooled: count(),
    dropped: count(),
    /** Lead of the wall clock of the agent's machine over the server's (milliseconds). */
    clock_ahead_ms: z.number().min(-INSTANT_MS_MAX).max(INSTANT_MS_MAX),
    /**
     * Whether so many hosts are out of reach at once that the agent suspects its own network. Older agents do not
     * report it.
     */
    suspect: z.boolean().default(false),
  }),
})
export type SyncRequest = z.infer<typeof syncRequestSchema>

/**
 * A header value or body. Within a process a secret is in plain text and marked as secret. Over the network it is
 * sealed to the session of the agent, whose link opens it.
 */
const callValueSchema = z.union([
  z.object({ plain: z.string() }),
  z.object({ secret: z.string() }),
  z.object({ sealed: z.string() }),
])
export type CallValue = z.infer<typeof callValueSchema>

/** An endpoint for an agent to check in one region. */
export const endpointTaskSchema = z.object({
  id: z.guid(),
  series: count(SERIES_MAX),
  url: z.string(),
  /** Whether the address is forbidden, so that it is never contacted. */
  blocked: z.boolean(),
  /** The agent parses each one separately, because an older agent does not know every kind. */
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

/** A service for an agent to run from now on, which replaces any earlier generation. */
export const startedServiceSchema = z.object({
  service: z.guid(),
  /** For the limit of an organisation's checks in flight. */
  org: z.guid(),
  generation: count(),
  interval_s: count(),
  /** Whether endpoints that were not running are checked immediately. */
  first: z.boolean(),
  endpoints: z.array(endpointTaskSchema),
})
export type StartedService = z.infer<typeof startedServiceSchema>

/** The changes after the cursor: the current form of each changed service. */
export const syncResponseSchema = z.object({
  protocol: z.int(),
  /** Identity of the store. Generations of different stores cannot be compared. */
  store: z.guid(),
  region: z.string(),
  now_ms: count(),
  /** Time for which the server delayed the response (milliseconds). The rest of the exchange is network time. */
  waited_ms: count(),
  /** Changes whenever `members` changes. */
  epoch: count(),
  /**
   * Instances that share the endpoints of the region; empty while the server itself checks it, or while it is not
   * checked.
   */
  members: z.array(z.guid()).max(MEMBERS_MAX),
  cursor: z.string().max(200),
  /** Whether the response is a page of everything. After the last page, services that no page named end. */
  whole: z.boolean(),
  /** Whether the next page is available already. */
  more: z.boolean(),
  start: z.array(startedServiceSchema).max(SERVICES_MAX),
  end: z.array(z.object({ service: z.guid(), generation: count() })).max(SERVICES_MAX),
  /** The data for opening sealed values; `null` when there are none. */
  sealing: z.object({ public_key: publicKeySchema, salt: z.string().max(64) }).nullable(),
  inventory: z.enum(['same', 'different']),
  /**
   * Private ranges that the server allows. An agent checks only addresses that both allow. An older server names none,
   * so it allows none.
   */
  ranges_allowed: z.array(z.string()).default([]),
  /**
   * Addresses of the server's machine, which are forbidden unless `ranges_allowed` has them. Older servers do not name
   * them.
   */
  server_addresses: z.array(z.string()).default([]),
})
export type SyncResponse = z.infer<typeof syncResponseSchema>

/**
 * A result: series, generation of the service, due time (s), delay of the start (ms), outcome, reason, status (0
 * without one), attempts, flags (`responseFacts.ts`), then in microseconds: total, dns, connect, tls, wait, body.
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

/** The details of a result that is not simply up. */
export const resultDetailSchema = z.object({
  series: count(SERIES_MAX),
  due_s: count(),
  /** For people, without secrets. */
  text: storedText(2 * REASON_TEXT_CHARS_MAX),
  /** Positions of the failed assertions, as a bitmap. */
  failed: count(2 ** ASSERTIONS_MAX - 1),
  /** From the first failed assertion; never a body. */
  expected: storedText(OBSERVED_CHARS_MAX).nullable(),
  seen: storedText(OBSERVED_CHARS_MAX).nullable(),
  /** The first of two attempts. */
  first: z.object({ reason: oneOf(REASONS), total_us: micros }).nullable(),
})
export type ResultDetail = z.infer<typeof resultDetailSchema>

/** A certificate that a target presented. */
export const certificateSeenSchema = z.object({
  series: count(SERIES_MAX),
  host: storedText(255),
  port: count(65_535),
  fingerprint: storedText(128),
  subject: storedText(OBSERVED_CHARS_MAX),
  issuer: storedText(OBSERVED_CHARS_MAX),
  serial: storedText(128),
  not_before_ms: instantMs,
  not_after_ms: instantMs,
  /** The earliest expiry of all certificates that were sent, except the root. */
  chain_not_after_ms: instantMs,
})
export type CertificateSeen = z.infer<typeof certificateSeenSchema>

/** A batch of results for the server. The agent repeats it until it is acknowledged. */
export const resultsRequestSchema = z.object({
  protocol: z.int(),
  /** The store to which the series belong. */
  store: z.guid(),
  instance: z.guid(),
  batch: count(),
  sent_ms: count(),
  results: z.array(resultRowSchema).max(BATCH_RESULTS_MAX),
  details: z.array(resultDetailSchema).max(BATCH_RESULTS_MAX),
  certificates: z.array(certificateSeenSchema).max(BATCH_RESULTS_MAX),
})
export type ResultsRequest = z.infer<typeof resultsRequestSchema>

/** Reasons for not accepting a result. It is not sent again. */
export const REFUSALS = ['superseded', 'ended', 'unknown_series', 'clock', 'too_old', 'other_store'] as const
export type Refusal = (typeof REFUSALS)[number]

/** The response, which is sent after the commit. */
export interface ResultsResponse {
  readonly batch: number
  readonly stored: number
  /** Number of results that were stored already. */
  readonly known: number
  readonly refused: readonly (readonly [series: number, dueS: number, refusal: Refusal])[]
  readonly now_ms: number
}
