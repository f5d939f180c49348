import { Attempt, type AttemptTools } from '../../monitoring/check/attempt.ts'
import { type CheckSettings, openCheckTools } from '../../monitoring/check/checkTools.ts'
import { isInRanges } from '../../monitoring/check/network/addressRules.ts'
import { ProxyFault } from '../../monitoring/check/network/dialThroughProxy.ts'
import { CheckFault } from '../../monitoring/check/outcome/reason.ts'
import packageJson from '../../package.json' with { type: 'json' }
import { linkedPayload } from '../domain/notifications/events.ts'
import type { Payload } from '../domain/notifications/payload.ts'
import type { AttemptResult } from '../domain/notifications/retries.ts'
import { signatureHeaders } from '../domain/notifications/signature.ts'
import { slackMessage } from '../domain/notifications/slackMessage.ts'
import { openValue } from '../domain/seal.ts'
import type { FindMasterKey } from '../secrets/masterKeys.ts'
import type { DueDelivery } from '../store/notificationStore.ts'

/** Time limit of an attempt, from DNS to the end of the response (milliseconds). Gap G9. */
const ATTEMPT_MS_MAX = 20_000
/** Time limit for connecting (milliseconds), after which an unreachable host frees its slot. */
const CONNECT_MS_MAX = 5_000
/** Up to 64 KiB of the response are read and dropped, so that the receiver can finish sending. */
const NEEDS = { wholeBody: false, bodyText: false }

/** Settings of a poster. */
export interface PosterSettings extends Omit<CheckSettings, 'userAgent'> {
  readonly findMasterKey: FindMasterKey
  readonly nowMs: () => number
  /** Public origin of the console; without links to it when absent. */
  readonly consoleUrl?: string | undefined
}

/** Sends deliveries over the connections of checks, which verify every address they dial. */
export interface Poster {
  /** Makes one attempt. Rejects with the reason of `signal` when it aborts, and when a secret cannot be opened. */
  readonly post: (delivery: DueDelivery, signal: AbortSignal) => Promise<AttemptResult>
  readonly close: () => Promise<void>
}

/** Creates a poster. Throws on an invalid address range or proxy. */
export function openPoster({ findMasterKey, nowMs, consoleUrl, ...settings }: PosterSettings): Poster {
  const checkTools = openCheckTools({ ...settings, userAgent: `pharos/${packageJson.version}` })
  const tools: AttemptTools = { ...checkTools, connectMsMax: CONNECT_MS_MAX }
  const isAllowed = isInRanges(settings.allowedRanges)
  // Without TLS, others could read a delivery and its signature. Therefore http reaches only ranges that the operator
  // allows, and no proxy.
  const { proxy: _, ...directTools } = tools
  const plainTools: AttemptTools = { ...directTools, isForbidden: (address) => !isAllowed(address) }
  const open = (sealed: DueDelivery['target']): string => openValue(sealed, findMasterKey(sealed.masterKeyId))
  return {
    post: async (delivery, signal) => {
      const url = new URL(open(delivery.target))
      url.hash = ''
      const { body, headers } = messageOf(delivery, {
        secrets: delivery.secrets.map(open),
        nowMs: nowMs(),
        consoleUrl,
      })
      const request = {
        ...({ url, method: 'POST', body: { value: body, isSealed: false } } as const),
        headers: headers.map(([name, value]) => ({ name, value, isSealed: false })),
      }
      const how = { timeoutMs: ATTEMPT_MS_MAX, redirectsMax: 0, isDnsFresh: false, isDnsCounted: true }
      const attempt = new Attempt(
        { request, ...how, needs: NEEDS },
        url.protocol === 'http:' ? plainTools : tools,
        delivery.attempts,
        signal,
      )
      return resultOf(attempt)
    },
    close: checkTools.close,
  }
}

type Header = readonly [name: string, value: string]

function messageOf(
  { kind, body: stored, webhookId }: DueDelivery,
  {
    secrets,
    nowMs,
    consoleUrl,
  }: Pick<PosterSettings, 'consoleUrl'> & { readonly secrets: readonly string[]; readonly nowMs: number },
): { readonly body: string; readonly headers: readonly Header[] } {
  const type = ['content-type', 'application/json; charset=utf-8'] as const
  // True because only payloads are stored as bodies.
  const payload = JSON.parse(stored) as Payload
  const linked = consoleUrl === undefined ? payload : linkedPayload(payload, consoleUrl)
  if (kind === 'slack') return { body: slackMessage(linked), headers: [type] }
  const body = JSON.stringify(linked)
  const signed = signatureHeaders({ webhookId, body }, secrets, nowMs)
  return { body, headers: [type, ...Object.entries(signed)] }
}

/** The reason of a check, or for a proxy the sentence that names it. */
function reasonOf(fault: CheckFault): string {
  return fault instanceof ProxyFault ? fault.message : fault.reason
}

async function resultOf(attempt: Attempt): Promise<AttemptResult> {
  const durationMs = (): number => Math.round(attempt.phases.total / 1_000)
  try {
    const { status, headers } = await attempt.observe()
    const retryAfter = headers.find(([name]) => name.toLowerCase() === 'retry-after')?.[1]
    return {
      status,
      error: null,
      durationMs: durationMs(),
      ...(retryAfter === undefined ? {} : { retryAfter }),
    }
  } catch (error) {
    if (!(error instanceof CheckFault)) throw error
    // The receiver has responded, although the body of its response is late or broken.
    if (attempt.status > 0) return { status: attempt.status, error: null, durationMs: durationMs() }
    return { status: null, error: reasonOf(error), durationMs: durationMs() }
  } finally {
    attempt.close()
  }
}
