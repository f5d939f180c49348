/** Paths of values in a resource. */

/** An attribute by name, an element of a list by index, or an element of a map by key. */
export type PathStep = string | number | { readonly key: string }

/**
 * Steps from the root: `['endpoints', 0, 'headers', { key: 'Accept' }, 'value']`.
 *
 * Elements of sets have no paths in Terraform: a path to one ends at the set.
 */
export type Path = readonly PathStep[]

/** A path in Terraform's notation: `endpoints[0].headers["Accept"].value`. */
export function formatPath(path: Path): string {
  return path
    .map((step, position) => {
      if (typeof step === 'number') return `[${step}]`
      if (typeof step === 'object') return `[${JSON.stringify(step.key)}]`
      return position === 0 ? step : `.${step}`
    })
    .join('')
}
