import { expect, test } from 'vitest'
import {
  circlesIn,
  folderImports,
  type Graph,
  importsOf,
  shortestCircle,
  sourceFiles,
} from './testing/importGraph.ts'

const PROGRAM = /^(?:api|server|provider|reconciler|web|monitoring)\//

/** Existing circles between files. The list only shrinks: remove the ones that you resolve. */
const FILES_LEFT: readonly string[] = []

/** Existing circles between folders. */
const FOLDERS_LEFT: readonly string[] = []

const imports = importsOf(sourceFiles().filter((file) => PROGRAM.test(file) && !file.endsWith('.test.ts')))

/** Each circle in `graph` that is not in `left`, as its shortest path, and each one in `left` that no longer exists. */
function surprises(graph: Graph, left: readonly string[]): readonly string[] {
  const circles = circlesIn(graph)
  const names = circles.map((circle) => circle.join(' '))
  return [
    ...circles
      .filter((circle) => !left.includes(circle.join(' ')))
      .map((circle) => `new circle: ${shortestCircle(graph, circle)} (all: ${circle.join(' ')})`),
    ...left
      .filter((circle) => !names.includes(circle))
      .map((circle) => `gone, take it from the list: ${circle}`),
  ]
}

test('no files of a program import each other in a circle, types included', () => {
  expect(surprises(imports, FILES_LEFT)).toEqual([])
})

test('no folders of a program import each other in a circle, types included', () => {
  expect(surprises(folderImports(imports), FOLDERS_LEFT)).toEqual([])
})

test('an import circle is reported by its shortest path, without the files that only lead to it', () => {
  const graph = new Map(
    Object.entries({ a: ['b', 'd'], b: ['c'], c: ['a'], d: ['a'], before: ['a'], after: [] }).map(
      ([name, names]) => [name, new Set(names)],
    ),
  )

  expect(circlesIn(graph)).toEqual([['a', 'b', 'c', 'd']])
  expect(shortestCircle(graph, ['a', 'b', 'c', 'd'])).toBe('a → d → a')
})
