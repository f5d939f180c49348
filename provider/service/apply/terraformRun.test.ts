import { expect, test } from 'vitest'
import { currentRun, journalFolders } from './terraformRun.ts'

const { signal } = new AbortController()

test('folder, data directory and workspace distinguish runs, and none of their names is stored', () => {
  const environments = [{}, { TF_DATA_DIR: 'production-data' }, { TF_WORKSPACE: 'production' }]

  const workspaces = environments.map((environment) => currentRun(environment, signal).workspace)

  expect(new Set(workspaces).size).toBe(3)
  for (const workspace of workspaces) expect(workspace).toMatch(/^[0-9a-f]{64}$/)
  expect(currentRun({}, signal).workspace).toBe(workspaces[0])
})

test("the journal is in the user's state folder of the operating system", () => {
  const windows = { LOCALAPPDATA: 'C:\\Users\\a\\AppData\\Local', HOME: '/home/a' }

  const folders = [
    journalFolders({ HOME: '/home/a' }, 'linux'),
    journalFolders({ HOME: '/home/a', XDG_STATE_HOME: '/state' }, 'linux'),
    journalFolders(windows, 'win32'),
    journalFolders({ HOME: '/home/a' }, 'win32'),
  ]

  expect(folders).toEqual([
    ['/home/a/.local/state/pharos/terraform'],
    ['/state/pharos/terraform'],
    ['C:\\Users\\a\\AppData\\Local\\pharos\\terraform'],
    [],
  ])
})
