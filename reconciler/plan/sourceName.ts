const ENVIRONMENT = ' --env '

/**
 * The name under which a state records the source last applied with it: folder and Environment, as on the command line,
 * `monitoring --env staging`. Pure.
 */
export function sourceName(name: string, environment: string | undefined): string {
  return environment === undefined ? name : `${name}${ENVIRONMENT}${environment}`
}

/** The environment of `source`: `--env staging`, or `no --env`. Pure. */
export function environmentOf(source: string): string {
  const at = source.lastIndexOf(ENVIRONMENT)
  return at === -1 ? 'no --env' : source.slice(at + 1)
}

/** Whether `source` is one file instead of a folder. Pure. */
export function isFile(source: string): boolean {
  const [path = ''] = source.split(ENVIRONMENT)
  return isManifestFile(path)
}

/** Whether the file at `path` is a manifest by its name. Pure. */
export function isManifestFile(path: string): boolean {
  return /\.ya?ml$/i.test(path)
}
