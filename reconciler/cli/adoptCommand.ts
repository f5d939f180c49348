import { guardOrg, lookAround } from '../apply/situation.ts'
import { type Adoption, adoptionsOf } from '../plan/adoption.ts'
import { fieldText } from '../render/fieldText.ts'
import { fieldDocument } from '../render/planDocument.ts'
import { counted } from '../render/planText.ts'
import { exitCodeOf } from './exitCode.ts'
import type { Output } from './output.ts'
import type { CommandContext, CommandResult } from './runCommand.ts'
import { type OpenScene, withScene } from './scene.ts'
import { openSession, openWritingSession, type Session, type WritingSession } from './session.ts'
import { UsageError } from './settings.ts'

/**
 * Takes over services that exist and are exactly what a manifest asks for, without touching them. Two
 * requests; writes the state only, and with --dry-run not even that.
 */
export async function adoptCommand(path: string, context: CommandContext): Promise<CommandResult> {
  if (context.options.state === undefined)
    throw new UsageError('adopt needs --state: that is where it is written down')
  const wish = { secrets: 'required', regions: 'trusted' } as const
  if (context.options.dryRun === true) {
    return withScene(path, context, { ...wish, open: openSession }, (open) => adopt(open, context, null))
  }
  return withScene(path, context, { ...wish, open: openWritingSession }, (open) =>
    adopt(open, context, open.session),
  )
}

/** `writing` is where the adoptions are written down; null for a dry run. */
async function adopt(
  { loaded, session, scene }: OpenScene<Session>,
  { output }: CommandContext,
  writing: WritingSession | null,
): Promise<CommandResult> {
  const { set } = loaded
  const org = await guardOrg(scene)
  const situation = await lookAround(scene)
  const found = adoptionsOf(
    [...situation.desired.values()],
    situation.services,
    await session.store.bindings(),
  )
  if (writing !== null) {
    const { store } = writing
    await store.settleIn({ orgId: org.id, url: session.url, source: loaded.name })
    for (const one of found) if (one.kind === 'match') await store.save({ put: one.binding })
    await store.checkpoint()
  }
  const isDry = writing === null
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
