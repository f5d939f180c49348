import { existsSync, writeFileSync } from 'node:fs'
import { Client } from '../../api/client/client.ts'
import { readOutgoing } from '../../api/network/outgoing.ts'
import { requiredProviders } from '../distribution/instructions.ts'
import { withExplainedFailure } from '../service/explain.ts'
import { withinTime } from '../service/timeouts.ts'
import { waitNotices } from '../service/waitNotice.ts'
import { estateConfiguration } from './estate.ts'
import { estateProgram, type Library } from './typescript.ts'

/** Languages of generated configuration. */
export const LANGUAGES = ['hcl', 'typescript'] as const

export interface GenerateOptions {
  readonly language: (typeof LANGUAGES)[number]
  /** Library of a CDKTF program; `cdktf` when absent. Unused for HCL. */
  readonly library?: Library
  /** File to write; stdout when absent. */
  readonly out?: string
}

/**
 * Writes the configuration of all services of the organisation, from one list request. Services that cannot be parsed are named
 * on stderr. Throws an Error with a message for the user.
 */
export async function generate(
  options: GenerateOptions,
  version: string,
  environment: NodeJS.ProcessEnv,
): Promise<void> {
  const { language, library, out } = options
  if (library !== undefined && language === 'hcl') {
    throw new Error(`--library ${library} is for a CDKTF program: add --language typescript`)
  }
  if (out !== undefined && existsSync(out)) throw new Error(`${out} already exists: name another file`)
  const isNoticed = waitNotices()
  const client = new Client({
    url: needed('PHAROS_URL', environment),
    apiKey: needed('PHAROS_API_KEY', environment),
    userAgent: `pharos-provider/${version}`,
    outgoing: readOutgoing(environment, environment.PHAROS_CA_FILE || undefined, 'PHAROS_CA_FILE'),
    onRetry: ({ reason }) => {
      if (isNoticed()) process.stderr.write(`the request is sent again: ${reason}\n`)
    },
  })
  try {
    const list = (): ReturnType<Client['listServices']> =>
      withinTime({ operation: 'read' }, new AbortController().signal, (signal) =>
        client.listServices({ signal }),
      )
    const { services, unreadable } = await withExplainedFailure(
      { task: 'list the services', operation: 'read' },
      list,
      {
        url: 'PHAROS_URL',
        key: 'PHAROS_API_KEY',
      },
    )
    for (const { id, problem } of unreadable) process.stderr.write(`service ${id} was left out: ${problem}\n`)
    const text =
      language === 'hcl'
        ? estateConfiguration(services, requiredProviders(version))
        : estateProgram(services, library)
    if (out === undefined) process.stdout.write(text)
    else writeFileSync(out, text, { flag: 'wx' })
  } finally {
    await client.close()
  }
}

function needed(name: string, environment: NodeJS.ProcessEnv): string {
  const value = environment[name] ?? ''
  if (value === '') throw new Error(`set the environment variable ${name}`)
  return value
}
