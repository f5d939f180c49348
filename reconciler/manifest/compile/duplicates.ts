import { grouped } from '../../plan/grouped.ts'
import { formatPlace, type ManifestProblem, type Place, type ProblemCode } from '../manifestProblem.ts'
import { mappingOf } from '../mapping.ts'
import type { ManifestPath } from '../read/position.ts'
import type { ReadService } from './declaredService.ts'
import type { Document } from './document.ts'
import { placeIn } from './origin.ts'

/**
 * Problems of services with the same name or id, folders with two Defaults, and duplicate Environments; the keys of the
 * affected services.
 */
export function duplicateProblems(
  services: readonly ReadService[],
  defaults: readonly Document[],
  environments: readonly Document[],
): { readonly problems: readonly ManifestProblem[]; readonly keys: ReadonlySet<string> } {
  const byKey = repeated(services, (service) => service.key)
  const byId = repeated(services, (service) => service.id)
  const byFolder = repeated(defaults, (document) => document.source.directory)
  const byEnvironment = repeated(environments, (document) => nameOf(document))
  return {
    problems: [
      ...byEnvironment.flatMap((group) =>
        problems(group, 'E_DUP_ENVIRONMENT', ['metadata', 'name'], (document) => document),
      ),
      ...byKey.flatMap((group) =>
        problems(group, 'E_DUP_KEY', ['metadata', 'name'], ({ document }) => document),
      ),
      ...byId.flatMap((group) => problems(group, 'E_DUP_ID', ['metadata', 'id'], ({ document }) => document)),
      ...byFolder.flatMap((group) => problems(group, 'E_DUP_DEFAULTS', ['kind'], (document) => document)),
    ],
    keys: new Set([...byKey, ...byId].flat().flatMap((service) => service.key ?? [])),
  }
}

function nameOf(document: Document): string | undefined {
  const name = mappingOf(document.mapping.metadata)?.name
  return typeof name === 'string' ? name : undefined
}

function repeated<Item>(
  items: readonly Item[],
  keyOf: (item: Item) => string | undefined,
): readonly (readonly Item[])[] {
  return [...grouped(items, keyOf).values()].filter((group) => group.length > 1)
}

const WORDS: Readonly<Partial<Record<ProblemCode, readonly [string, string]>>> = {
  E_DUP_KEY: ['metadata.name is used twice', 'rename one of the two'],
  E_DUP_ID: ['metadata.id is used twice', 'remove it from one of the two: a service has one manifest'],
  E_DUP_ENVIRONMENT: ['this Environment is defined twice', 'merge the two'],
  E_DUP_DEFAULTS: ['this folder has two Defaults', 'merge the two'],
}

function problems<Item>(
  group: readonly Item[],
  code: ProblemCode,
  path: ManifestPath,
  documentOf: (item: Item) => Document,
): readonly ManifestProblem[] {
  const places = group.map((item) => placeIn({ own: documentOf(item), defaults: [] }, path, 'value'))
  const [what = '', hint] = WORDS[code] ?? []
  return places.map((place, index) => {
    const others = otherPlaces(places, index)
    return { code, ...place, message: `${what}: also at ${others.join(', ')}`, hint }
  })
}

/** Maximum of other places in one problem, which keeps the report of a large file short. */
const OTHER_PLACES_MAX = 3

function otherPlaces(places: readonly Place[], index: number): readonly string[] {
  const near = places.slice(0, OTHER_PLACES_MAX + 1).filter((place) => place !== places[index])
  const shown = near.slice(0, OTHER_PLACES_MAX).map(formatPlace)
  const left = places.length - 1 - shown.length
  return left > 0 ? [...shown, `${left} more`] : shown
}

/** Warnings about services of `read` among `keys` that have the same name in the API. */
export function sameNameWarnings(
  read: readonly ReadService[],
  keys: ReadonlySet<string>,
): readonly ManifestProblem[] {
  const usable = read.filter(({ service }) => service !== undefined && keys.has(service.key))
  return repeated(usable, ({ service }) => service?.request.name).flatMap((group) =>
    group.slice(1).map(({ document, key }) => ({
      code: 'W_SAME_NAME' as const,
      ...placeOfShownName(document),
      message: `${key} and ${group[0]?.key} have the same spec.name`,
      hint: 'the API allows it, but readers confuse them',
    })),
  )
}

/** The place of the name that the API shows: `spec.name`, or else `metadata.name`. */
function placeOfShownName(document: Document): Place {
  const isNamed = mappingOf(document.mapping.spec)?.name !== undefined
  return placeIn({ own: document, defaults: [] }, [isNamed ? 'spec' : 'metadata', 'name'], 'value')
}
