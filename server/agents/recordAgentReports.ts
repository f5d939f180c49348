import type { AgentReport, AgentTokenStore } from '../store/monitoringStore.ts'
import type { Member, Members } from './members.ts'

/** Interval at which unchanged reports are stored again (milliseconds). */
const REPORT_MS = 15_000

/** The largest number of a report, which every database can store. */
const COUNT_MAX = 2 ** 31 - 1

/** Dependencies for storing reports. */
export interface ReportParts {
  readonly members: Pick<Members, 'all'>
  readonly store: Pick<AgentTokenStore, 'recordAgentReports'>
  readonly nowMs: () => number
  /** The clock of the members. */
  readonly monotonicMs: () => number
}

/**
 * A function, to be called about once a second, that stores the report of each token when the number or version of its
 * agents changes, and every REPORT_MS. Rejects when storing fails; the next call retries.
 */
export function agentReportRecorder({
  members,
  store,
  nowMs,
  monotonicMs,
}: ReportParts): () => Promise<void> {
  const noted = new Map<string, { readonly report: AgentReport; readonly atMs: number }>()
  return async () => {
    const atMs = monotonicMs()
    const present = reportsOf(members.all(), nowMs() - atMs)
    const tokens = new Set(present.map(({ tokenId }) => tokenId))
    const left = [...noted.values()]
      .filter(({ report }) => !tokens.has(report.tokenId) && report.agents > 0)
      .map(({ report }) => ({ ...report, agents: 0, checksInFlight: 0 }))
    const changed = present.filter((report) => {
      const known = noted.get(report.tokenId)
      if (known === undefined || atMs - known.atMs >= REPORT_MS) return true
      return known.report.agents !== report.agents || known.report.version !== report.version
    })
    const due = [...changed, ...left]
    if (due.length === 0) return
    await store.recordAgentReports(due)
    for (const report of due) noted.set(report.tokenId, { report, atMs })
  }
}

/** One report per token of `members`; `epochMs` is the epoch of their monotonic clock. Pure. */
function reportsOf(members: readonly Member[], epochMs: number): readonly AgentReport[] {
  const ofTokens = new Map<string, Member[]>()
  for (const member of members) {
    const { id } = member.token
    ofTokens.set(id, [...(ofTokens.get(id) ?? []), member])
  }
  return [...ofTokens].map(([tokenId, agents]) => {
    const sum = (value: (member: Member) => number) =>
      Math.min(
        agents.reduce((total, member) => total + value(member), 0),
        COUNT_MAX,
      )
    const aheadMs = agents.map(({ load }) => load.clock_ahead_ms)
    return {
      tokenId,
      seenAtMs: Math.round(epochMs + Math.max(...agents.map(({ seenMs }) => seenMs))),
      agents: agents.length,
      version: [...new Set(agents.map(({ version }) => version))].toSorted().join(', '),
      clockAheadMs: Math.round(
        aheadMs.reduce((most, each) => (Math.abs(each) > Math.abs(most) ? each : most), 0),
      ),
      spooled: sum(({ load }) => load.spooled),
      checksInFlight: sum(({ load }) => load.in_flight),
    }
  })
}
