import { grouped } from '../../plan/grouped.ts'
import { type Mapping, mappingOf } from '../mapping.ts'
import type { EnvironmentManifest } from '../schema/serviceManifest.ts'

type Patches = NonNullable<NonNullable<EnvironmentManifest['spec']>['patches']>
type Target = Patches[number]['target']

/** A patch and its index in the Environment. */
export interface NumberedPatch {
  readonly index: number
  readonly patch: Patches[number]['patch']
}

/** Gives the patches of an Environment that target a service, in order. */
export type PatchIndex = (service: Mapping) => readonly NumberedPatch[]

/** Indexes `patches` by the name or the first label of their targets: there may be thousands. Pure. */
export function indexOfPatches(patches: Patches): PatchIndex {
  const numbered = patches.map((one, index) => ({ ...one, index }))
  const byFeature = grouped(numbered, ({ target }) => firstFeature(target))
  return (service) =>
    featuresOf(service)
      .flatMap((feature) => byFeature.get(feature) ?? [])
      .filter(({ target }) => isTarget(service, target))
      .sort((a, b) => a.index - b.index)
}

const ANY = 'any'

function firstFeature({ name, labels }: Target): string {
  if (name !== undefined) return `name ${name}`
  const [label] = Object.entries(labels ?? {})
  return label === undefined ? ANY : `label ${label.join('=')}`
}

function featuresOf(service: Mapping): readonly string[] {
  const metadata = mappingOf(service.metadata)
  const labels = Object.entries(mappingOf(metadata?.labels) ?? {})
  return [ANY, `name ${metadata?.name}`, ...labels.map((label) => `label ${label.join('=')}`)]
}

function isTarget(service: Mapping, target: Target): boolean {
  const metadata = mappingOf(service.metadata)
  const labels = mappingOf(metadata?.labels)
  const wanted = Object.entries(target.labels ?? {})
  return (
    (target.name === undefined || target.name === metadata?.name) &&
    wanted.every(([label, value]) => labels?.[label] === value)
  )
}
