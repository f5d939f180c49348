/**
 * Feeds 100,000 generated responses, valid, odd and damaged, to our parser and to node:http. They may disagree only on
 * named differences.
 *
 * node --import tsx bench/monitoring/torture.ts [responses]
 */
import { compareReaders } from '../../monitoring/check/testing/namedDifferences.ts'

const RESPONSES = 100_000
const count = Number(process.argv[2] ?? RESPONSES)
const startedAtMs = performance.now()
const { whole, named, unnamed } = await compareReaders(1_000_000, count)
const seconds = ((performance.now() - startedAtMs) / 1_000).toFixed(1)
console.log(
  `node ${process.version}: ${count} responses in ${seconds} s, of which node:http read ${whole} whole`,
)
for (const [name, times] of Object.entries(named)) console.log(`  differs ${times} times: ${name}`)
if (unnamed.length > 0) {
  console.log(
    `FAIL: ${unnamed.length} differences without a name, such as seeds ${unnamed.slice(0, 10).join(', ')}`,
  )
  process.exitCode = 1
}
