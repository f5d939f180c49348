import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'

/** The names to which each name leads. */
export type Graph = ReadonlyMap<string, ReadonlySet<string>>

/** Hand-written TypeScript and JavaScript files of the repository, relative to its root. */
export function sourceFiles(): readonly string[] {
  const listed = execFileSync(
    'git',
    ['ls-files', '--cached', '--others', '--exclude-standard', '*.ts', '*.mjs'],
    {
      encoding: 'utf8',
    },
  )
  return listed
    .split('\n')
    .filter((file) => file !== '' && existsSync(file) && !/\.d\.m?ts$|\/\.gen\//.test(file))
}

/** Relative imports in a source text: static, dynamic, of types and re-exports. */
const RELATIVE_IMPORT = /\b(?:from|import)\s*\(?\s*'(\.[^']+)'/g

/** Files of the repository that `file` with the source `text` imports, types included. */
export function importedFrom(file: string, text: string): readonly string[] {
  const paths = [...text.matchAll(RELATIVE_IMPORT)].map(([, path = '']) =>
    normalize(join(dirname(file), path)),
  )
  return paths.filter((path) => path !== file && existsSync(path))
}

/** For each of `files` the other ones that it imports, types included. */
export function importsOf(files: readonly string[]): Graph {
  const known = new Set(files)
  return new Map(
    files.map((file) => {
      const imported = importedFrom(file, readFileSync(file, 'utf8'))
      return [file, new Set(imported.filter((path) => known.has(path)))]
    }),
  )
}

/** For each folder the folders from which its files import. */
export function folderImports(imports: Graph): Graph {
  const folders = new Map<string, Set<string>>()
  for (const [file, imported] of imports) {
    const folder = dirname(file)
    const others = folders.get(folder) ?? new Set()
    for (const path of imported) if (dirname(path) !== folder) others.add(dirname(path))
    folders.set(folder, others)
  }
  return folders
}

/** Groups of names that all lead to one another, in order. Each group must be broken up. */
export function circlesIn(graph: Graph): readonly (readonly string[])[] {
  const reached = new Map([...graph.keys()].map((name) => [name, reachableFrom(graph, name)]))
  const leads = (from: string, to: string): boolean => reached.get(from)?.has(to) === true
  const groups = [...graph.keys()]
    .filter((name) => leads(name, name))
    .map((name) => [...graph.keys()].filter((other) => leads(name, other) && leads(other, name)).sort())
  return [...new Map(groups.map((group) => [group.join(' '), group])).values()].sort((a, b) =>
    a.join(' ') < b.join(' ') ? -1 : 1,
  )
}

/** All names reachable from `from`, which is one of them only if it is in a circle. */
function reachableFrom(graph: Graph, from: string): ReadonlySet<string> {
  const reached = new Set<string>()
  const waiting = [...(graph.get(from) ?? [])]
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    if (reached.has(name)) continue
    reached.add(name)
    waiting.push(...(graph.get(name) ?? []))
  }
  return reached
}

/** The shortest path from the first of `circle` back to it, as text: `a → b → a`. */
export function shortestCircle(graph: Graph, circle: readonly string[]): string {
  const [start = ''] = circle
  const seen = new Set<string>()
  const ways = [[start]]
  for (const way of ways) {
    for (const next of graph.get(way.at(-1) ?? start) ?? []) {
      if (next === start) return [...way, start].join(' → ')
      if (circle.includes(next) && !seen.has(next)) ways.push([...way, next])
      seen.add(next)
    }
  }
  return circle.join(', ')
}
