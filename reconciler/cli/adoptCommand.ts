import { guardOrg, lookAround } from '../apply/situation.ts'
import { type Adoption, adoptionsOf } from '../plan/adoption.ts'
import { fieldText } from '../render/fieldText.ts'
import { fieldDocument } from '../render/planDocument.ts'
import { counted } from '../render/planText.ts'
import { exitCodeOf } from './exitCode.ts'
import { loadManifests } from './manifests.ts'
import type { Output } from './output.ts'
import { refuseMissingPath } from './planCommand.ts'
import type { CommandContext, CommandResult } from './runCommand.ts'
import { openSession } from './session.ts'
import { createGraceMs, UsageError } from './settings.ts'

/**
 * Takes over services that exist and are exactly what a manifest asks for, without touching them. Two
 * requests; writes the state only, and with --dry-run not even that.
 */
export async function adoptCommand(path: string, context: CommandContext): Promise<CommandResult> {
  const { output, options, env } = context
  if (options.state === undefined)
    throw new UsageError('adopt needs --state: that is where it is written down')
  const loaded = await loadManifests(path, options, env, 'required')
  const isDry = options.dryRun === true
  const session = await openSession(options, env, output, isDry ? 'read' : 'write')
  try {
    await refuseMissingPath(path, loaded, session.store)
    const { set } = loaded
    const scene = {
      ...session,
      set,
      sourceExists: loaded.exists,
      sourceName: loaded.name,
      regions: 'trusted' as const,
      createGraceMs: createGraceMs(options),
      nowMs: Date.now,
    }
    const org = await guardOrg(scene)
    const situation = await lookAround(scene)
    const found = adoptionsOf(
      [...situation.desired.values()],
      situation.services,
      await session.store.bindings(),
    )
    if (!isDry) {
      await session.store.settleIn({ orgId: org.id, url: session.url, source: loaded.name })
      for (const one of found) if (one.kind === 'match') await session.store.save({ put: one.binding })
    }
    output.problems(set.problems)
    for (const one of found) writeAdoption(one, isDry, output)
    const matches = found.filter((one) => one.kind === 'match').length
    output.result(
      `${isDry ? 'Would adopt' : 'Adopted'} ${counted(matches, 'service')} (${counted(session.requests(), 'API request')})`,
    )
    return {
      exitCode: exitCodeOf({ decisionNeeded: found.length > matches, partial: set.problems.length > 0 }),
      document: {
        problems: set.problems,
        adoptions: found.map(adoptionDocument),
        requests: session.requests(),
      },
    }
  } finally {
    await session.close()
  }
}

function writeAdoption(one: Adoption, isDry: boolean, output: Output): void {
  const { paint } = output
  switch (one.kind) {
    case 'match':
      output.result(
        paint.green(`  = ${one.key}: ${isDry ? 'is' : 'adopted'} service ${one.binding.serviceId}`),
      )
      return
    case 'differs':
      output.result(
        paint.yellow(
          `  x ${one.key}: service ${one.id} has the name, but differs (make the manifest equal, or set metadata.id to overwrite it)`,
        ),
      )
      for (const field of one.fields) output.result(`      ${fieldText({ ...field, reason: 'differs' })}`)
      return
    case 'several':
      output.result(
        paint.yellow(
          `  x ${one.key}: several may be meant: ${one.ids.join(', ')} (set metadata.id to the right one)`,
        ),
      )
  }
}

function adoptionDocument(one: Adoption): object {
  switch (one.kind) {
    case 'match':
      return { kind: one.kind, key: one.key, id: one.binding.serviceId }
    case 'differs':
      return { ...one, fields: one.fields.map((field) => fieldDocument({ ...field, reason: 'differs' })) }
    case 'several':
      return one
  }
}
