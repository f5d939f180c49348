const ENVIRONMENT = ' --env '

/**
 * What a state remembers of the manifests that were last applied with it: the name of their folder, and the
 * Environment that was chosen. Written as one would type it; `monitoring --env staging`. Pure.
 */
export function sourceName(name: string, environment: string | undefined): string {
  return environment === undefined ? name : `${name}${ENVIRONMENT}${environment}`
}

/** How `source` was chosen among environments: `--env staging`, or `no --env`. Pure. */
export function environmentOf(source: string): string {
  const at = source.lastIndexOf(ENVIRONMENT)
  return at === -1 ? 'no --env' : source.slice(at + 1)
}
