import type { Logger } from 'pino'
import type { AppliedEffect, MonitoringStore, Transition } from '../store/monitoringStore.ts'

/** Pause before transitions that could not be applied are applied again (milliseconds). */
const RETRY_MS = 5_000

/** What transitions are applied with. */
export interface TransitionParts {
  readonly store: Pick<MonitoringStore, 'appliedTransition' | 'applyTransition' | 'definitionOf'>
  readonly log: Logger
  /** The transitions of a file behind a sequence, in order; none only when there are no more. Rejects for another file. */
  readonly read: (resultsFile: string, after: number) => Promise<readonly Transition[]>
}

/** The applying of transitions. */
export interface Applying {
  /** Applies what a file of results holds. */
  readonly apply: (resultsFile: string) => void
  /** Resolves when what was asked for until now is applied, or has failed. */
  readonly settled: () => Promise<void>
  /** Ends it; resolves when nothing is under way. */
  readonly stop: () => Promise<void>
}

/**
 * Applies the transitions of files of results, in their order. Each is marked as
 * applied in one transaction with its effect: a crash repeats the hand-over, never the effect.
 */
export function applyTransitions({ store, log, read }: TransitionParts): Applying {
  let underWay: Promise<void> = Promise.resolve()
  let retry: NodeJS.Timeout | undefined
  let isStopped = false
  /** The file that is open: a retry is never for one that was replaced. */
  let current = ''

  async function applyAll(resultsFile: string): Promise<void> {
    let applied = await store.appliedTransition(resultsFile)
    while (!isStopped) {
      const transitions = await read(resultsFile, applied)
      const last = transitions.at(-1)
      if (last === undefined) return
      // Asked together, so that they share a commit. One that fails takes those behind it with it.
      const effects = await Promise.all(
        transitions.map((transition, index) =>
          store.applyTransition(resultsFile, transitions[index - 1]?.sequence ?? applied, transition),
        ),
      )
      for (const [index, transition] of transitions.entries()) {
        const effect = effects[index]
        if (isLogged(transition, effect)) report(log, transition, effect, await nameOf(transition.serviceId))
      }
      applied = last.sequence
    }
  }

  /** Name of a service for a line of the log; undefined when it has been deleted since. */
  async function nameOf(serviceId: string): Promise<string | undefined> {
    const definition = serviceId === '' ? undefined : await store.definitionOf(serviceId)
    return definition && JSON.parse(definition.text).name
  }

  function apply(resultsFile: string): void {
    clearTimeout(retry)
    current = resultsFile
    underWay = underWay
      .then(() => applyAll(resultsFile))
      .catch((error: unknown) => {
        log.warn({ err: error }, 'changes of states could not be applied yet')
        if (!isStopped) retry = setTimeout(() => apply(current), RETRY_MS)
      })
  }

  return {
    apply,
    settled: () => underWay,
    stop: () => {
      isStopped = true
      clearTimeout(retry)
      return underWay
    },
  }
}

const LOGGED_KINDS: readonly string[] = ['agent.lost', 'agent.back', 'service.state']

/** Whether there is something to log. Rounds come with every interval: their effects are logged, they are not. */
function isLogged({ kind }: Transition, effect: AppliedEffect | undefined): boolean {
  return LOGGED_KINDS.includes(kind) || (effect !== undefined && effect.kind !== 'nothing')
}

/** Logs what a transition says or did. */
function report(
  log: Logger,
  { kind, serviceId, atS, body }: Transition,
  effect: AppliedEffect | undefined,
  serviceName: string | undefined,
): void {
  if (kind === 'agent.lost') {
    log.warn(JSON.parse(body), 'the region has no agent: it is not checked, and becomes unknown')
  } else if (kind === 'agent.back') log.info(JSON.parse(body), 'the region has an agent')
  const about = { service: serviceId, serviceName, at: new Date(atS * 1_000) }
  if (kind === 'service.state') log.info({ ...about, ...JSON.parse(body) }, 'a service changed its state')
  if (effect === undefined || effect.kind === 'nothing') return
  if (effect.kind === 'noticed') {
    log.warn({ ...about, ...JSON.parse(body) }, 'a certificate ends soon, or has ended')
  } else if (effect.kind === 'refused') {
    log.warn({ ...about, reason: effect.reason }, 'an automatic incident could not be written')
  } else log.info({ ...about, incident: effect.incident }, `an automatic incident was ${effect.kind}`)
}
