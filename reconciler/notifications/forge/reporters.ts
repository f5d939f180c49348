import type { ForgeSettings } from '../../controller/config/notificationSettings.ts'
import type { ControllerClock } from '../../controller/schedule/clock.ts'
import type { ControllerStatus } from '../../controller/status/status.ts'
import type { Send } from '../delivery/outgoing.ts'
import type { Forge } from './forge.ts'
import { forgeCalls } from './forgeCalls.ts'
import { ForgeReporter, type ReportResult } from './forgeReporter.ts'
import { githubForge, githubHeaders } from './github.ts'
import { gitlabForge, gitlabHeaders } from './gitlab.ts'

/** What telling forges needs of the program. */
export interface ReportersDeps {
  readonly status: () => ControllerStatus
  readonly clock: ControllerClock
  readonly send: Send
  readonly version: string
  readonly publicUrl: string | null
  readonly onResult: (forge: string, result: ReportResult) => void
  readonly onProblem: (message: string) => void
}

/** The forges that `settings` describe. */
export function reportersOf(
  settings: readonly ForgeSettings[],
  deps: ReportersDeps,
): readonly ForgeReporter[] {
  return settings.map((one) => {
    const { kind, repository, sets, commitStatus, comment } = one.config
    const name = `${kind} ${repository}`
    return new ForgeReporter({
      ...deps,
      name,
      sets,
      commitStatus,
      comment,
      forgeWith: (signal) => forgeOf(one, deps, signal),
      onResult: (result) => deps.onResult(name, result),
    })
  })
}

function forgeOf(
  { config, url, token }: ForgeSettings,
  { send, version }: ReportersDeps,
  signal: AbortSignal,
): Forge {
  const userAgent = `pharos/${version}`
  switch (config.kind) {
    case 'github':
      return githubForge(forgeCalls(url, githubHeaders(token, userAgent), send, signal), config.repository)
    case 'gitlab':
      return gitlabForge(forgeCalls(url, gitlabHeaders(token, userAgent), send, signal), config.repository)
  }
}
