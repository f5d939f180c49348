/**
 * Path of the bundle `name` of a thread: beside the running bundle, or in dist/ when the sources run. A thread is a
 * program of its own, so that it loads only what it needs.
 */
export function threadFile(name: string): URL {
  const isSource = import.meta.url.endsWith('.ts')
  return new URL(isSource ? `../../dist/${name}` : name, import.meta.url)
}
