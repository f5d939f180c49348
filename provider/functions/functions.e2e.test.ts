import { describe, expect, onTestFinished, test } from 'vitest'
import {
  cannotRunTerraform,
  type TerraformWorkspace,
  terraformWorkspace,
} from '../testing/terraformWorkspace.ts'

/** A workspace without a server that has an output for each expression. */
async function outputsOf(expressions: readonly string[]): Promise<TerraformWorkspace> {
  const workspace = await terraformWorkspace({ url: 'http://127.0.0.1:9', apiKey: '' })
  onTestFinished(workspace.remove)
  workspace.configure(
    expressions.map((expression, index) => `output "output_${index}" { value = ${expression} }\n`).join(''),
  )
  return workspace
}

describe.skipIf(cannotRunTerraform)('terraform', () => {
  test('functions return their results without a key and without a server', async () => {
    const results = [
      ['provider::pharos::duration_seconds("1m30s")', 90],
      ['provider::pharos::duration_seconds("250ms")', 0.25],
      ['provider::pharos::format_duration(90)', '1m30s'],
      ['provider::pharos::format_duration(provider::pharos::duration_seconds("1.5s") * 2)', '3s'],
      ['provider::pharos::format_duration(0.25)', '250ms'],
      ['provider::pharos::basic_auth("ann", "secret")', 'Basic YW5uOnNlY3JldA=='],
    ] as const
    const workspace = await outputsOf(results.map(([expression]) => expression))

    await workspace.succeed(['apply', '-auto-approve'])
    const outputs = JSON.parse(await workspace.succeed(['output', '-json']))

    expect(results.map(([expression], index) => [expression, outputs[`output_${index}`].value])).toEqual(
      results,
    )
  })

  test('an invalid value is refused at its argument', async () => {
    const refusals = [
      ['provider::pharos::duration_seconds("soon")', 'duration', 'must be a duration such as'],
      ['provider::pharos::format_duration(-1)', 'seconds', 'must not be negative'],
      ['provider::pharos::format_duration(1e20)', 'seconds', 'must be at most 9007199254740991'],
      ['provider::pharos::basic_auth("a:b", "secret")', 'user', 'must not contain a colon'],
    ] as const
    const workspace = await outputsOf(refusals.map(([expression]) => expression))

    const { exitCode, output } = await workspace.run(['plan'])

    const errors = output.replaceAll(/\s+/g, ' ').split('Error: ').slice(1)
    expect(exitCode).toBe(1)
    expect(errors.length).toBe(refusals.length)
    for (const [expression, argument, text] of refusals) {
      const error = errors.find((one) => one.includes(`value = ${expression}`))
      expect(error).toContain(`Invalid value for "${argument}" parameter: ${text}`)
    }
  })
})
