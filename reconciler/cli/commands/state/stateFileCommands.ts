import { readFileSync } from 'node:fs'
import { guardOrg } from '../../../apply/buildPlan.ts'
import { EXIT } from '../../../run/exitCode.ts'
import { UsageError } from '../../../run/failure.ts'
import { fileReason } from '../../../../api/runtime/fileReason.ts'
import { documentOf, parseExport } from '../../../state/model/stateDocument.ts'
import type { StateDocument } from '../../../state/model/record.ts'
import type { StateReading } from '../../../state/model/store.ts'
import { openStore, storeExists } from '../../../state/openStore.ts'
import { counted, quoted } from '../../../text/counts.ts'
import type { Command } from '../../session/commandEntry.ts'
import { writeOutput } from '../../session/outputFile.ts'
import { closingAfter, openSession, withLease } from '../../session/session.ts'
import { readingState, requireState } from '../../session/stateAccess.ts'

/** Names stdout or stdin in place of a file. */
const STANDARD_STREAM = '-'

/** Exports the state as JSON to stdout or a file. No request, no secret. */
export const exportState: Command = async ([named], context) => {
  const file = named === STANDARD_STREAM ? undefined : named
  return readingState(context, async (store) => {
    const document = await documentOf(store)
    const text = `${JSON.stringify(document, null, 2)}\n`
    if (file === undefined) context.output.result(text.trimEnd())
    else {
      writeOutput(file, text)
      context.output.result(`${file}: ${counted(document.bindings.length, 'service')}`)
    }
    return { exitCode: EXIT.converged, document: file === undefined ? { state: document } : { file } }
  })
}

/** Creates a state from an export, unless there is one. No request. */
export const importState: Command = async ([file = ''], context) => {
  const { output } = context
  const location = requireState(context)
  const document = parseExport(readText(file), file)
  // An import that failed, for example on a full disk, leaves an empty state.
  if ((await storeExists(location, context.env)) && !(await readingState(context, isEmpty)))
    throw new UsageError(`there already is a state at ${location}: import into a new one`)
  const onProgress = (done: number, total: number): void =>
    output.progress(`imported ${done} of ${total} services`)
  await closingAfter(await openStore(location, context.env), (store) =>
    withLease(store, context, () => store.restore(document, onProgress)),
  )
  output.progress('')
  output.result(
    `${location}: ${counted(document.bindings.length, 'service')}; secrets count as changed once unless you copy the key of the state too`,
  )
  return { exitCode: EXIT.converged, document: { services: document.bindings.length } }
}

/** File descriptor of stdin. */
const STDIN = 0

async function isEmpty(store: StateReading): Promise<boolean> {
  const { home, bindings, intents, runs } = await documentOf(store)
  return home === null && bindings.length + intents.length + runs.length === 0
}

function readText(file: string): string {
  try {
    return readFileSync(file === STANDARD_STREAM ? STDIN : file, 'utf8')
  } catch (error) {
    throw new UsageError(`${file} cannot be read: ${fileReason(error)}`)
  }
}

/**
 * Compares the state with the existing services: two requests, no write. Exits 6 when a service of the state was deleted or
 * an operation is open.
 */
export const verifyState: Command = async (_args, context) => {
  requireState(context)
  const checked = await readingState(context, async (store) =>
    // Validates it as an import would.
    parseExport(JSON.stringify(await documentOf(store)), requireState(context)),
  )
  return closingAfter(await openSession(context), async (session) => {
    await guardOrg(session)
    const { services, unreadable } = await session.client.listServices()
    const found = findingsOf(
      checked,
      [...services.map(({ id }) => id), ...unreadable.map(({ id }) => id)],
      new Map(services.map(({ id, name }) => [id, name])),
    )
    const { output } = context
    for (const { key, id } of found.gone) {
      output.result(
        output.paint.yellow(`  ! ${key}: service ${id} was deleted; the next apply creates it again`),
      )
    }
    for (const { key, kind } of found.open) {
      output.result(output.paint.yellow(`  ? ${key}: ${kind} sent, outcome not recorded`))
    }
    for (const { id, name } of found.unmanaged)
      output.result(`    service ${id} ${quoted(name)} is not managed here`)
    output.result(`${found.bound} of ${checked.bindings.length} services of the state exist`)
    const needsLook = found.gone.length > 0 || found.open.length > 0
    return { exitCode: needsLook ? EXIT.decisionNeeded : EXIT.converged, document: found }
  })
}

function findingsOf(
  { bindings, intents }: StateDocument,
  ids: readonly string[],
  names: ReadonlyMap<string, string>,
) {
  const live = new Set(ids)
  const owned = new Set(bindings.map(({ serviceId }) => serviceId))
  const missing = bindings.filter(({ serviceId }) => !live.has(serviceId))
  return {
    bound: bindings.length - missing.length,
    gone: missing.map(({ key, serviceId }) => ({ key, id: serviceId })),
    open: intents.map(({ key, kind }) => ({ key, kind })),
    // Services missing from an old backup are reported, never removed.
    unmanaged: ids.filter((id) => !owned.has(id)).map((id) => ({ id, name: names.get(id) ?? '' })),
  }
}
