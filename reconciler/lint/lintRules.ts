import { formatPath } from '../../api/contract/problem.ts'
import { durationOf } from '../manifest/compile/compileService.ts'
import type { DeclaredService } from '../manifest/compile/declaredService.ts'
import { problemAt } from '../manifest/compile/serviceSet.ts'
import type { LintCode, ManifestProblem } from '../manifest/manifestProblem.ts'
import type { PathProblem } from '../manifest/compile/origin.ts'
import type { LintSettings, RuleName } from './lintSettings.ts'

/** The violations of one rule in a service. */
type Rule = (service: DeclaredService, settings: LintSettings) => readonly Finding[]
type Finding = Omit<PathProblem, 'code'>

const RULES: Readonly<Record<RuleName, { readonly code: LintCode; readonly find: Rule }>> = {
  assertions: { code: 'L_ASSERTIONS', find: missingAssertions },
  https: { code: 'L_HTTPS', find: clearUrls },
  interval: { code: 'L_INTERVAL', find: intervalOutside },
  labels: { code: 'L_LABELS', find: missingLabels },
  regions: { code: 'L_REGIONS', find: fewRegions },
}

/** The violations of the rules in `services`. Pure. */
export function lint(
  services: readonly DeclaredService[],
  settings: LintSettings,
): readonly ManifestProblem[] {
  // True because Object.entries lists the keys of RULES.
  const rules = Object.entries(RULES) as [RuleName, (typeof RULES)[RuleName]][]
  return services.flatMap((service) =>
    rules
      .filter(([name]) => settings.except[name]?.includes(service.key) !== true)
      .flatMap(([, { code, find }]) =>
        find(service, settings).map(({ path, message, hint }) =>
          problemAt(service, path, { code, message: `${formatPath(path)} ${message}`, hint }),
        ),
      ),
  )
}

function missingAssertions({ manifest }: DeclaredService, { assertions }: LintSettings): readonly Finding[] {
  if (assertions === false) return []
  return manifest.spec.endpoints.flatMap((endpoint, index): readonly Finding[] => {
    const kinds = new Set((endpoint.assertions ?? []).flatMap((one) => Object.keys(one)))
    const path = ['spec', 'endpoints', index]
    if (assertions === true) {
      if (kinds.size > 0) return []
      return [{ path, message: 'has no assertion', hint: 'add one, such as {status: 2xx}' }]
    }
    const missing = assertions.filter((kind) => !kinds.has(kind))
    if (missing.length === 0) return []
    return [{ path, message: `has no assertion on ${missing.join(', ')}`, hint: 'add one of each kind' }]
  })
}

function clearUrls({ manifest }: DeclaredService, { https }: LintSettings): readonly Finding[] {
  if (!https) return []
  return manifest.spec.endpoints.flatMap(({ url }, index) =>
    /^http:/i.test(url)
      ? [
          {
            path: ['spec', 'endpoints', index, 'url'],
            message: 'is not encrypted',
            hint: 'write https://, or list the service under except.https',
          },
        ]
      : [],
  )
}

function intervalOutside({ manifest }: DeclaredService, { interval }: LintSettings): readonly Finding[] {
  const { secs } = durationOf(manifest.spec.interval)
  const { min, max } = interval ?? {}
  const path = ['spec', 'interval']
  if (min !== undefined && secs < durationOf(min).secs)
    return [{ path, message: `is shorter than ${min}`, hint: `use ${min} or longer` }]
  if (max !== undefined && secs > durationOf(max).secs)
    return [{ path, message: `is longer than ${max}`, hint: `use ${max} or shorter` }]
  return []
}

function missingLabels({ manifest }: DeclaredService, { labels }: LintSettings): readonly Finding[] {
  const given = manifest.metadata.labels ?? {}
  return Object.entries(labels).flatMap(([name, allowed]): readonly Finding[] => {
    const value = given[name]
    if (value === undefined) {
      return [
        {
          path: ['metadata'],
          message: `has no label ${name}`,
          hint: `add labels: {${name}: ${allowed[0] ?? 'VALUE'}}`,
        },
      ]
    }
    if (allowed.length === 0 || allowed.includes(value)) return []
    const hint = `use ${allowed.join(', ')}`
    return [{ path: ['metadata', 'labels', name], message: 'has a value that is not listed', hint }]
  })
}

function fewRegions({ manifest }: DeclaredService, { regions }: LintSettings): readonly Finding[] {
  const count = new Set(manifest.spec.regions).size
  if (count >= regions) return []
  const message = `has ${count} of at least ${regions} regions`
  return [
    { path: ['spec', 'regions'], message, hint: 'add regions, so that one of them alone opens no incident' },
  ]
}
