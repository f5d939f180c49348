/**
 * Where the bundle `name` of a thread is: beside the bundle that runs, and in dist/ for what runs from its sources. A
 * thread is a program of its own, so that it loads no more than it needs.
 */
export function threadFile(name: string): URL {
  const isSource = import.meta.url.endsWith('.ts')
  return new URL(isSource ? `../../dist/${name}` : name, import.meta.url)
}
