import { type Mapping, mappingOf } from '../mapping.ts'
import type { EnvironmentManifest } from '../schema/serviceManifest.ts'

type Patches = NonNullable<NonNullable<EnvironmentManifest['spec']>['patches']>
type Target = Patches[number]['target']

/** A patch and its index in the Environment. */
export interface NumberedPatch {
  readonly index: number
  readonly patch: Patches[number]['patch']
}

/** The patches of an Environment, indexed by service. */
export interface PatchIndex {
  /** The patches that target `service`, in order. */
  readonly of: (service: Mapping) => readonly NumberedPatch[]
}

/** Indexes `patches` by the name or the first label of their targets: there may be thousands. Pure. */
export function indexOfPatches(patches: Patches): PatchIndex {
  const byFeature = new Map<string, number[]>()
  for (const [index, { target }] of patches.entries()) {
    const feature = firstFeature(target)
    const indexes = byFeature.get(feature)
    if (indexes === undefined) byFeature.set(feature, [index])
    else indexes.push(index)
  }
  const of = (service: Mapping): readonly NumberedPatch[] => {
    const candidates = featuresOf(service).flatMap((feature) => byFeature.get(feature) ?? [])
    return candidates
      .sort((a, b) => a - b)
      .flatMap((index) => {
        const one = patches[index]
        return one === undefined || !isTarget(service, one.target) ? [] : [{ index, patch: one.patch }]
      })
  }
  return { of }
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
