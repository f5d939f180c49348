import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { compileSet } from './manifest/compile/serviceSet.ts'
import { readYaml } from './manifest/read/readYaml.ts'
import { SAFETY_LIMIT_NAMES } from './plan/safetyLimits.ts'

const page = readFileSync(join(import.meta.dirname, '../docs/manifests.md'), 'utf8')
const examples = [...page.matchAll(/```yaml\n(.*?)```/gs)].map((match) => match[1] ?? '')

test('every example in docs/manifests.md is valid', () => {
  expect(examples.length).toBeGreaterThan(4)
  const problems = examples.flatMap((text, index) => {
    const read = readYaml({ file: `example ${index + 1}`, directory: '', text })
    const set = compileSet(read.documents, {
      env: {},
      secretsDirectory: '/run/secrets',
      rootDirectory: '/nowhere',
      allowInlineSecrets: false,
      secrets: 'optional',
    })
    return [...read.problems, ...set.problems]
  })
  expect(problems).toEqual([])
})

test('docs/manifests.md has every safety limit by its name in output', () => {
  const limits = page.slice(page.indexOf('## Safety limits'), page.indexOf('## Errors'))

  expect(SAFETY_LIMIT_NAMES.filter((name) => !limits.includes(`${name}\``))).toEqual([])
})
