import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import {
  cannotRunTerraform,
  type TerraformWorkspace,
  terraformWorkspace,
} from '../testing/terraformWorkspace.ts'

describe.skipIf(cannotRunTerraform)('terraform', () => {
  let workspace: TerraformWorkspace

  beforeEach(async () => {
    workspace = await terraformWorkspace({ url: 'http://127.0.0.1:9', apiKey: '' })
  })

  afterEach(() => workspace.remove())

  async function outcomeOf(expression: string): Promise<unknown> {
    workspace.configure(`output "value" { value = ${expression} }`)
    await workspace.succeed(['apply', '-auto-approve'])
    return JSON.parse(await workspace.succeed(['output', '-json', 'value']))
  }

  test.each([
    ['provider::pharos::duration_seconds("1m30s")', 90],
    ['provider::pharos::duration_seconds("250ms")', 0.25],
    ['provider::pharos::format_duration(90)', '1m30s'],
    ['provider::pharos::format_duration(provider::pharos::duration_seconds("1.5s") * 2)', '3s'],
    ['provider::pharos::format_duration(0.25)', '250ms'],
    ['provider::pharos::basic_auth("ann", "secret")', 'Basic YW5uOnNlY3JldA=='],
  ])('%s is %j, without a key and without a server', async (expression, value) => {
    expect(await outcomeOf(expression)).toEqual(value)
  })

  test.each([
    ['provider::pharos::duration_seconds("soon")', 'duration', 'must be a duration such as'],
    ['provider::pharos::format_duration(-1)', 'seconds', 'must not be negative'],
    ['provider::pharos::format_duration(1e20)', 'seconds', 'must be at most 9007199254740991'],
    ['provider::pharos::basic_auth("a:b", "secret")', 'user', 'must not contain a colon'],
  ])('%s is refused at its argument %s', async (expression, argument, text) => {
    workspace.configure(`output "value" { value = ${expression} }`)

    const { exitCode, output } = await workspace.run(['plan'])

    expect(exitCode).toBe(1)
    expect(output.replaceAll(/\s+/g, ' ')).toContain(`Invalid value for "${argument}" parameter: ${text}`)
  })
})
