import { assertionSchema } from '../../api/contract/assertion.ts'
import type { EndpointInput, SensitiveInput } from '../../api/contract/service.ts'
import { notRecently } from '../../api/runtime/notRecently.ts'
import { type CheckSettings, type CheckTools, openCheckTools } from '../check/checkTools.ts'
import { addressRules, type IsForbidden } from '../check/network/addressRules.ts'
import { prepareCheck } from '../check/prepareCheck.ts'
import { type CheckResult, runCheck } from '../check/runCheck.ts'
import type { CallValue, EndpointTask } from '../protocol/messages.ts'
import { REASONS } from '../protocol/outcomes.ts'
import { flagsOf } from '../protocol/responseFacts.ts'
import {
  type CheckLibrary,
  type CheckReport,
  type PrepareCheck,
  type ServerRules,
  skippedCheck,
} from './checkReport.ts'

/** The server decides whether an endpoint is blocked, before the ranges of the agent apply. */
const FORBIDDEN_BY_SERVER =
  'not checked: the server forbids the address (see --allow-ranges of pharos-server serve)'

/** Time after which a certificate is reported again (milliseconds). */
const CERTIFICATE_AGAIN_MS = 60 * 60 * 1_000
/** Maximum number of certificates whose last report is remembered. */
const CERTIFICATES_KNOWN_MAX = 100_000
/** Minimum time before a failure is confirmed, and the range that is added to it (milliseconds). */
const CONFIRM_MS_MIN = 1_000
const CONFIRM_MS_SPREAD = 1_000
const MS_PER_SECOND = 1_000
const NANOS_PER_MS = 1_000_000

/** Checks with the same library as `pharos test`. Throws when a range is invalid. */
export function checkLibrary(settings: CheckSettings): CheckLibrary {
  const opened = openCheckTools(settings)
  const server = serverRules()
  const tools: CheckTools = {
    ...opened,
    isForbidden: (address, port) => opened.isForbidden(address, port) || server.isForbidden(address, port),
  }
  return { prepare: preparation(tools), restrict: server.restrict }
}

/** The server's address rules. They forbid nothing before the first response, which precedes the first check. */
function serverRules() {
  let known = ''
  let isForbiddenThere: IsForbidden = () => false
  return {
    isForbidden: (address: string, port: number) => isForbiddenThere(address, port),
    restrict: ({ ranges_allowed: ranges, server_addresses: addresses }: ServerRules): void => {
      const rules = `${ranges.join()} ${addresses.join()}`
      if (rules === known) return
      const own = new Set(addresses)
      isForbiddenThere = addressRules(ranges, (address) => own.has(address)).isForbidden
      known = rules
    },
  }
}

function preparation(tools: CheckTools): PrepareCheck {
  const isNewCertificate = notRecently(CERTIFICATE_AGAIN_MS, CERTIFICATES_KNOWN_MAX)
  return (task, org) => {
    if (task.blocked) return alwaysSkipped('address_forbidden', FORBIDDEN_BY_SERVER)
    // Parsed when first due, because definitions arrive by the thousand while checks of others are due.
    let check: CheckOfTask | undefined
    return {
      run: async ({ slot, nextDueMs }) => {
        check ??= checkOf(task, org)
        if (check === 'unknown kind') {
          return skippedCheck(
            'agent_too_old',
            'not checked: the agent is older than an assertion of the endpoint',
          )
        }
        const nextMs = performance.now() + nextDueMs
        const result = await runCheck(check, tools, {
          attemptIndex: slot,
          // A repeated attempt must end before the next slot.
          confirmAfterMs: () => {
            const afterMs = CONFIRM_MS_MIN + Math.random() * CONFIRM_MS_SPREAD
            return performance.now() + afterMs < nextMs ? afterMs : undefined
          },
        })
        return reportOf(result, (fingerprint) => isNewCertificate(`${task.series} ${fingerprint}`))
      },
    }
  }
}

type CheckOfTask = ReturnType<typeof prepareCheck> | 'unknown kind'

function checkOf(task: EndpointTask, org: string): CheckOfTask {
  const endpoint = endpointOf(task)
  return endpoint === undefined
    ? 'unknown kind'
    : prepareCheck(endpoint, { org, series: String(task.series) })
}

const alwaysSkipped = (...reason: Parameters<typeof skippedCheck>) => {
  const report = skippedCheck(...reason)
  return { run: async () => report }
}

/** The endpoint in the form of the API; `undefined` when this release does not know the kind of an assertion. */
function endpointOf({ url, assertions, call }: EndpointTask): EndpointInput | undefined {
  const known = assertions.flatMap((assertion) => {
    const read = assertionSchema.safeParse(assertion)
    return read.success ? [read.data] : []
  })
  if (known.length < assertions.length) return undefined
  const timeoutMs = call.timeout_ms
  const secs = Math.floor(timeoutMs / MS_PER_SECOND)
  const nanos = Math.round((timeoutMs - secs * MS_PER_SECOND) * NANOS_PER_MS)
  const Http = {
    method: call.method,
    timeout: { secs, nanos },
    max_redirects_to_follow: call.redirects,
    with_dns: call.with_dns,
    headers: Object.fromEntries(call.headers.map(([name, value]) => [name, inputOf(value)])),
    body: call.body === null ? null : inputOf(call.body),
  }
  return { url, call: { Http }, assertions: known }
}

function inputOf(value: CallValue): SensitiveInput {
  if ('plain' in value) return { value: value.plain, sensitive: false }
  if ('secret' in value) return { value: value.secret, sensitive: true }
  throw new Error('a sealed value was not opened by its link')
}

function reportOf(result: CheckResult, isNewCertificate: (fingerprint: string) => boolean): CheckReport {
  const { outcome, reason, status, attempts, phases, facts } = result
  return {
    ...{ outcome, reason, status, attempts, phases, flags: flagsOf(facts) },
    detail: outcome === 'up' && attempts === 1 ? null : detailOf(result),
    certificates: result.certificates
      .filter(({ host, fingerprint }) => isNewCertificate(`${host} ${fingerprint}`))
      .map(({ host, port, fingerprint, subject, issuer, serial, ...times }) => ({
        ...{ host, port, fingerprint, subject, issuer, serial },
        not_before_ms: times.notBeforeMs,
        not_after_ms: times.notAfterMs,
        chain_not_after_ms: times.chainNotAfterMs,
      })),
  }
}

function detailOf({ verdicts, text, reason, first }: CheckResult): CheckReport['detail'] {
  const failed = verdicts.map(({ result }) => result !== 'pass')
  const shown = verdicts[failed.indexOf(true)]
  return {
    text: text ?? reason,
    failed: failed.reduce((bitmap, isFailed, place) => bitmap + (isFailed ? 2 ** place : 0), 0),
    expected: shown?.expected ?? null,
    seen: shown?.seen ?? null,
    first:
      first === undefined ? null : { reason: REASONS[first.reason], total_us: Math.round(first.totalUs) },
  }
}
