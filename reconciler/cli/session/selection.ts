import type { DeclaredService, ServiceSet } from '../../manifest/compile/declaredService.ts'
import { suggestionFor } from '../../manifest/suggestion.ts'
import type { Selection } from '../../plan/selection.ts'
import { parseSelector, type Selector, SelectorError } from '../../plan/selector.ts'
import { UsageError } from '../../run/failure.ts'
import type { CommandOptions } from './settings.ts'

/**
 * The services that match both `--selector` and `--target`; `undefined` without these options. `more` are further keys of
 * the state, those of removed manifests, which have no labels. Throws UsageError for an invalid selector or unknown name.
 */
export function selectionOf(
  { selector, target }: CommandOptions,
  { services, frozenKeys }: Pick<ServiceSet, 'services' | 'frozenKeys'>,
  more: readonly string[],
): Selection | undefined {
  if (selector === undefined && target === undefined) return undefined
  const targets = target === undefined ? undefined : namesIn(target)
  const known = new Set([...services.map(({ key }) => key), ...frozenKeys, ...more])
  for (const name of targets ?? []) if (!known.has(name)) throw unknownName(name, [...known])
  const chosen = selector === undefined ? undefined : keysOf(services, selectorOf(selector))
  return (key) => (targets?.has(key) ?? true) && (chosen?.has(key) ?? true)
}

function namesIn(text: string): ReadonlySet<string> {
  const names = text.split(',').flatMap((name) => name.trim() || [])
  if (names.length === 0) throw new UsageError('--target needs the metadata.name of a service')
  return new Set(names)
}

function selectorOf(text: string): Selector {
  try {
    return parseSelector(text)
  } catch (error) {
    if (!(error instanceof SelectorError)) throw error
    throw new UsageError(`--selector ${text}: ${error.message}`)
  }
}

function keysOf(services: readonly DeclaredService[], selector: Selector): ReadonlySet<string> {
  return new Set(
    services.filter(({ manifest }) => selector(manifest.metadata.labels ?? {})).map(({ key }) => key),
  )
}

function unknownName(name: string, known: readonly string[]): UsageError {
  const near = suggestionFor(name, known)
  const advice = near === undefined ? '' : `; did you mean ${near}?`
  return new UsageError(`--target: no manifest and no service of the state is named ${name}${advice}`)
}
