import type { Reporter, TestModule } from 'vitest/node'

/** Length of the list of slow files. A run of fewer files prints no list. */
const SLOWEST_FILES = 20

/**
 * Prints at the end of a run the tests that passed only when retried, with their first error, and the slowest files.
 */
export const runSummary: Reporter = {
  onTestRunEnd(modules) {
    const lines = [...retried(modules), ...(modules.length > SLOWEST_FILES ? slowest(modules) : [])]
    if (lines.length > 0) process.stdout.write(`${lines.join('\n')}\n`)
  },
}

function retried(modules: readonly TestModule[]): readonly string[] {
  const tests = modules.flatMap((module) => [...module.children.allTests('passed')])
  return tests
    .filter((test) => (test.diagnostic()?.retryCount ?? 0) > 0)
    .map((test) => {
      const [first] = test.result().errors ?? []
      const trace = (first?.stack ?? '').split('\n').filter((line) => !line.includes('node_modules'))
      return `Passed only when retried: ${test.module.relativeModuleId} > ${test.fullName}\n${trace.join('\n')}`
    })
}

function slowest(modules: readonly TestModule[]): readonly string[] {
  const byTime = modules.toSorted((a, b) => b.diagnostic().duration - a.diagnostic().duration)
  return [
    'Slowest files (seconds):',
    ...byTime
      .slice(0, SLOWEST_FILES)
      .map(
        (module) =>
          `${(module.diagnostic().duration / 1_000).toFixed(1).padStart(6)} ${module.relativeModuleId}`,
      ),
  ]
}
