import { expect, test } from 'vitest'
import { currentRun } from './terraformRun.ts'

test('folder, data directory and workspace tell runs apart, and none of their names is written down', () => {
  const environments = [{}, { TF_DATA_DIR: 'production-data' }, { TF_WORKSPACE: 'production' }]

  const workspaces = environments.map((environment) => currentRun(environment).workspace)

  expect(new Set(workspaces).size).toBe(3)
  for (const workspace of workspaces) expect(workspace).toMatch(/^[0-9a-f]{64}$/)
  expect(currentRun({}).workspace).toBe(workspaces[0])
})
