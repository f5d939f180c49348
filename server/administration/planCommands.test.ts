import { beforeEach, expect, test } from 'vitest'
import { testFolder } from '../../api/testing/temporaryFolder.ts'
import { runHere } from '../testing/commandHere.ts'
import { folderEngineOf, withExistingStore } from './options/withStore.ts'

let dataDir: string

beforeEach(() => {
  dataDir = testFolder()
})

const run = (...args: readonly string[]) => runHere([...args, '--data-dir', dataDir, '--json'])

async function makeOrg(plan: string): Promise<string> {
  const { stdout } = await run('org', 'create', '--name', plan, '--plan', plan)
  return (JSON.parse(stdout) as { readonly id: string }).id
}

/** Days for which results and hours of an organisation are stored. */
const retentionOf = (orgId: string) =>
  withExistingStore(folderEngineOf(dataDir), async (store) =>
    (await store.historyPolicy(0)).retention.get(orgId),
  )

test('the retention of results follows the plan or its override', async () => {
  const orgs = await Promise.all(['free', 'starter', 'business', 'enterprise'].map(makeOrg))
  const [free = '', , business = ''] = orgs
  const before = await Promise.all(orgs.map(retentionOf))

  const limits = await run('plan', 'limits', '--org', free, '--results-days', '100')
  await run('plan', 'limits', '--org', business, '--results-days', '14')
  const changed = [await retentionOf(free), await retentionOf(business)]
  await run('plan', 'limits', '--org', free, '--results-days', 'plan')
  const refused = await run('plan', 'limits', '--org', free, '--results-days', '401')

  expect(before).toEqual([
    { resultsDays: 7, hoursDays: 90 },
    { resultsDays: 7, hoursDays: 90 },
    { resultsDays: 30, hoursDays: 396 },
    { resultsDays: 90, hoursDays: 396 },
  ])
  expect(JSON.parse(limits.stdout)).toMatchObject({ resultsDays: 100 })
  // Hours outlast the results that they are made of.
  expect(changed).toEqual([
    { resultsDays: 100, hoursDays: 100 },
    { resultsDays: 14, hoursDays: 396 },
  ])
  expect(await retentionOf(free)).toEqual({ resultsDays: 7, hoursDays: 90 })
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('from 1 to 400 days')])
})
