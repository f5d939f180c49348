import { clientProblem } from '../../../api/client/client.ts'
import { rateOf, TIMER_MS_MAX } from '../../../api/client/limiter.ts'
import { parseDuration } from '../../../api/contract/duration.ts'
import { type BucketRate, REFILL_INTERVAL_MS } from '../../../api/contract/tokenBucket.ts'
import { type Outgoing, readOutgoing } from '../../../api/network/outgoing.ts'
import { DEFAULT_SAFETY_LIMITS, type SafetyLimit, type SafetyLimits } from '../../plan/safetyLimits.ts'
import { RUN_MS_MAX } from '../../run/apiWait.ts'
import { UsageError } from '../../run/failure.ts'
import type { SettingNames } from '../../run/failureOf.ts'

/** Options of all commands, as parsed by commander. */
export interface CommandOptions {
  readonly state?: string
  readonly json?: boolean
  readonly format?: string
  readonly url?: string
  readonly caFile?: string
  readonly rate?: string
  readonly selector?: string
  readonly secretsDir?: string
  readonly allowInlineSecrets?: boolean
  readonly createGrace?: string
  readonly approve?: string
  readonly withoutSecrets?: boolean
  readonly maxDeletes?: string
  readonly maxUpdates?: string
  readonly maxRecreates?: string
  readonly detailedExitcode?: boolean
  readonly region?: string
  readonly write?: string
  readonly env?: string
  readonly writeIds?: boolean
  readonly lockTimeout?: string
  readonly timeout?: string
  readonly quiet?: boolean
  readonly plan?: string
  readonly pointers?: string
  readonly actor?: string
  readonly reason?: string
  readonly for?: string
  readonly config?: string
  readonly once?: boolean
  readonly check?: boolean
  readonly controller?: boolean
  readonly repeat?: string
  readonly allowRanges?: string
  readonly ci?: string
  readonly target?: string
}

export type Environment = Readonly<Record<string, string | undefined>>

/** Requests a second and key: slower, no command would end; the API grants no more. */
const RATE_MIN = 0.1
const RATE_MAX = 1_000 / REFILL_INTERVAL_MS

/** Address and key of the API, proxy and CA certificates. Throws UsageError when one is missing or invalid. */
export function apiAccess(options: CommandOptions, env: Environment) {
  const url = options.url ?? env.PHAROS_URL
  const several = severalKeys(env)
  const [apiKey, ...moreApiKeys] = several.length > 0 ? several : [env.PHAROS_API_KEY?.trim()]
  if (url === undefined || url === '') {
    throw new UsageError('no API address: set PHAROS_URL, for example to http://127.0.0.1:7171')
  }
  if (apiKey === undefined || apiKey === '') throw new UsageError('no API key: set PHAROS_API_KEY')
  const more = moreApiKeys.flatMap((key) => key ?? [])
  for (const key of [apiKey, ...more]) {
    const problem = clientProblem(url, key)
    const names = settingNames(options, env)
    if (problem !== undefined) throw new UsageError(`${problem}: check ${names.url} and ${names.key}`)
  }
  return {
    url: url.replace(/\/+$/, ''),
    apiKey,
    /** Keys of the same organisation. */
    moreApiKeys: more,
    outgoing: outgoingOf(options, env),
    /** Undefined for the rate that the API grants to each key. */
    rate: requestRate(options),
  }
}

function severalKeys(env: Environment): readonly string[] {
  return (env.PHAROS_API_KEYS ?? '').split(',').flatMap((key) => key.trim() || [])
}

/** The option or variable of the address and of the key that `apiAccess` takes. Pure. */
export function settingNames(options: CommandOptions, env: Environment): SettingNames {
  return {
    url: options.url === undefined ? 'PHAROS_URL' : '--url',
    key: severalKeys(env).length > 0 ? 'PHAROS_API_KEYS' : 'PHAROS_API_KEY',
  }
}

function requestRate({ rate }: CommandOptions): BucketRate | undefined {
  if (rate === undefined) return undefined
  const perSecond = /^\d+(?:\.\d+)?$/.test(rate) ? Number(rate) : Number.NaN
  if (perSecond >= RATE_MIN && perSecond <= RATE_MAX) return rateOf(perSecond)
  throw new UsageError(
    `--rate must be from ${RATE_MIN} to ${RATE_MAX} requests a second for each key; PHAROS_API_KEYS names several keys`,
  )
}

function outgoingOf({ caFile }: CommandOptions, env: Environment): Outgoing {
  try {
    return caFile === undefined
      ? readOutgoing(env, env.PHAROS_CA_FILE || undefined, 'PHAROS_CA_FILE')
      : readOutgoing(env, caFile, '--ca-file')
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error))
  }
}

/** Default of --secrets-dir. */
const SECRETS_DIRECTORY = '/run/secrets'

/** The only folder from which secret files are read. */
export function secretsDirectory(options: CommandOptions, env: Environment): string {
  return options.secretsDir ?? env.PHAROS_SECRETS_DIR ?? SECRETS_DIRECTORY
}

/** How long a creation without a response may still take effect: twice as long as a request may take. */
const CREATE_GRACE_MS = 60_000

/** The value of --create-grace (milliseconds). Throws UsageError when it is not a duration. */
export function createGraceMs(options: CommandOptions): number {
  return options.createGrace === undefined
    ? CREATE_GRACE_MS
    : durationMs(options.createGrace, '--create-grace')
}

/** How long to wait for the state lock (milliseconds). Throws UsageError when it is not a duration. */
export function lockTimeoutMs(options: CommandOptions): number {
  return options.lockTimeout === undefined ? 0 : durationMs(options.lockTimeout, '--lock-timeout')
}

/** Time limit of a command (milliseconds). Throws UsageError when it is not a duration or out of range. */
export function timeoutMs({ timeout }: CommandOptions, env: Environment): number {
  const given = timeout ?? (env.PHAROS_TIMEOUT || undefined)
  if (given === undefined) return RUN_MS_MAX
  const option = timeout === undefined ? 'PHAROS_TIMEOUT' : '--timeout'
  const ms = durationMs(given, option)
  if (ms < 1_000 || ms > TIMER_MS_MAX)
    throw new UsageError(`${option} must be at least 1s and at most 24 days`)
  return ms
}

/** The duration `text` in milliseconds. Throws UsageError with `option` when it is not a duration. */
export function durationMs(text: string, option: string): number {
  const duration = parseDuration(text)
  if (duration === undefined) throw new UsageError(`${option} must be a duration such as 60s or 2m`)
  return duration.secs * 1_000 + Math.ceil(duration.nanos / 1_000_000)
}

/** The safety limits of this run. Throws UsageError for an invalid limit. */
export function safetyLimits(options: CommandOptions): SafetyLimits {
  return {
    maxDeletes: ceiling(options.maxDeletes, '--max-deletes') ?? DEFAULT_SAFETY_LIMITS.maxDeletes,
    maxUpdates: ceiling(options.maxUpdates, '--max-updates') ?? DEFAULT_SAFETY_LIMITS.maxUpdates,
    maxRecreates: ceiling(options.maxRecreates, '--max-recreates') ?? DEFAULT_SAFETY_LIMITS.maxRecreates,
  }
}

function ceiling(text: string | undefined, option: string): SafetyLimit | undefined {
  if (text === undefined) return undefined
  const [, count, percent] = /^(?=.)(?:(\d{1,6})(?:,(?=\d)|$))?(?:(\d{1,3})%)?$/.exec(text) ?? []
  if ((count === undefined && percent === undefined) || Number(percent ?? 0) > 100) {
    throw new UsageError(`${option} must be a count, a percentage or both, such as 5, 20% or 5,20%`)
  }
  return { count: Number(count ?? 0), percent: Number(percent ?? 0) }
}
