import type { Logger } from 'pino'
import type { AppliedEffect, MonitoringStore, Transition } from '../store/monitoringStore.ts'

/** Delay before failed transitions are retried (milliseconds). */
const RETRY_MS = 5_000

/** Dependencies for applying transitions. */
export interface TransitionParts {
  readonly store: Pick<MonitoringStore, 'appliedTransition' | 'applyTransition' | 'definitionOf'>
  readonly log: Logger
  /** Reads the transitions of a results file after a sequence, in order; empty only at the end. Rejects for another file. */
  readonly read: (resultsFile: string, after: number) => Promise<readonly Transition[]>
}

/**
 * Applies the transitions of results files in order. Each is marked as applied in the transaction of its effect, so
 * that a crash never repeats an effect.
 */
export function applyTransitions({ store, log, read }: TransitionParts) {
  let underWay: Promise<void> = Promise.resolve()
  let retry: NodeJS.Timeout | undefined
  let isStopped = false
  /** The open file; a replaced file is not retried. */
  let current = ''

  async function applyAll(resultsFile: string): Promise<void> {
    let applied = await store.appliedTransition(resultsFile)
    while (!isStopped) {
      const transitions = await read(resultsFile, applied)
      const last = transitions.at(-1)
      if (last === undefined) return
      // Applied together, so that they share a commit. After a failure, the rest fails too.
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

  /** Name of a service for the log; undefined when it was deleted. */
  async function nameOf(serviceId: string): Promise<string | undefined> {
    const definition = serviceId === '' ? undefined : await store.definitionOf(serviceId)
    return definition && JSON.parse(definition.text).name
  }

  function apply(resultsFile: string): void {
    clearTimeout(retry)
    // The next start applies what is written from now on.
    if (isStopped) return
    current = resultsFile
    underWay = underWay
      .then(() => applyAll(resultsFile))
      .catch((error: unknown) => {
        log.warn({ err: error }, 'state changes could not be applied yet')
        if (!isStopped) retry = setTimeout(() => apply(current), RETRY_MS)
      })
  }

  return {
    /** Applies the transitions of a results file. */
    apply,
    /** Resolves when all requested transitions are applied or have failed. */
    settled: (): Promise<void> => underWay,
    /** Stops; resolves when no work is in progress. */
    stop: (): Promise<void> => {
      isStopped = true
      clearTimeout(retry)
      return underWay
    },
  }
}

const LOGGED_KINDS: readonly string[] = ['agent.lost', 'agent.back', 'service.state']

/** Whether to log a transition. Rounds occur in every interval, so only their effects are logged. */
function isLogged({ kind }: Transition, effect: AppliedEffect | undefined): boolean {
  return LOGGED_KINDS.includes(kind) || (effect !== undefined && effect.kind !== 'nothing')
}

/** Logs a transition and its effect. */
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
    log.warn({ ...about, ...JSON.parse(body) }, 'a certificate expires soon, or has expired')
  } else if (effect.kind === 'refused') {
    log.warn({ ...about, reason: effect.reason }, 'an automatic incident could not be opened or updated')
  } else log.info({ ...about, incident: effect.incident }, `an automatic incident was ${effect.kind}`)
}
