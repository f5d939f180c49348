/**
 * A provider of notes, small enough to read and with every feature of the framework in it.
 *
 * A note is a JSON file in a directory, so that it outlives the processes that Terraform starts. Its `trouble` makes a
 * handler fail in a certain way.
 */
import { createHash, randomUUID } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DiagnosticError, errorAt, warningAt } from '../authoring/diagnostics.ts'
import type { AmendmentOf, PlannedOf, ResultOf } from '../authoring/inferred.ts'
import { type AnyResource, dataSourceFor, resourceFor } from '../authoring/provider.ts'
import { defineSchema } from '../authoring/schema.ts'
import { defineProvider } from '../defineProvider.ts'
import { numberFromText } from '../values/number.ts'
import { UNKNOWN } from '../values/value.ts'

const providerSchema = defineSchema({
  description: 'Keeps notes in a directory.',
  attributes: {
    directory: { type: 'string', required: true, description: 'Directory of the notes.' },
  },
})

const seconds = (text: string): number => (text.endsWith('m') ? 60 : 1) * Number.parseInt(text, 10)

/** The schema of `sample_note`. */
const noteSchema = defineSchema({
  version: 1,
  description: 'A note.',
  attributes: {
    id: { type: 'string', computed: true, stable: true },
    title: { type: 'string', required: true },
    author: { type: 'string', optional: true, requiresReplace: true },
    interval: { type: 'string', optional: true, equal: (a, b) => seconds(a) === seconds(b) },
    color: { type: 'string', optional: true, computed: true },
    weight: { type: 'number', optional: true },
    tags: { type: { set: 'string' }, optional: true },
    labels: { type: { map: 'string' }, optional: true },
    sections: {
      nesting: 'list',
      optional: true,
      attributes: {
        heading: { type: 'string', required: true },
        lines: { type: { list: 'string' }, optional: true },
        anchor: { type: 'string', computed: true },
        passphrase: { type: 'string', optional: true, writeOnly: true, sensitive: true },
      },
    },
    passphrase: { type: 'string', optional: true, writeOnly: true, sensitive: true },
    passphrase_revision: { type: 'number', computed: true, stable: true },
    revision: { type: 'number', computed: true },
    trouble: { type: 'string', optional: true },
  },
})

type NoteResult = ResultOf<typeof noteSchema>
type Planned = PlannedOf<typeof noteSchema>

/** The client of the handlers: a directory of files. */
export interface NoteStore {
  load(id: string): Stored | undefined
  save(id: string, note: Stored): void
  remove(id: string): void
}

/** A note in its file. The weight is text, which keeps every digit. */
interface Stored {
  readonly note: NoteResult
  readonly weight: string | null
}

/** The notes in `directory`. */
function openNotes(directory: string): NoteStore {
  const fileOf = (id: string): string => join(directory, `${id}.json`)
  return {
    load: (id) => {
      if (!existsSync(fileOf(id))) return undefined
      const parsed: Stored = JSON.parse(readFileSync(fileOf(id), 'utf8'))
      return parsed
    },
    save: (id, note) => {
      mkdirSync(directory, { recursive: true })
      writeFileSync(fileOf(id), JSON.stringify(note))
    },
    remove: (id) => rmSync(fileOf(id), { force: true }),
  }
}

const fingerprint = (secret: string | null): Uint8Array =>
  secret === null ? new Uint8Array(0) : createHash('sha256').update('sample').update(secret).digest()

const anchorOf = (heading: string): string => heading.toLowerCase().replaceAll(' ', '-')

function toFile(planned: Planned, revision: number): Stored {
  const { title, author, interval, weight, tags, labels, sections, trouble } = planned
  const note: NoteResult = {
    title,
    author,
    interval,
    color: planned.color === UNKNOWN ? null : planned.color,
    tags,
    labels: labels === null ? null : Object.fromEntries(labels),
    sections: sections?.map(({ heading, lines }) => ({ heading, lines, anchor: anchorOf(heading) })) ?? null,
    trouble,
    revision,
  }
  return { note, weight: weight?.toString() ?? null }
}

/** The values of a planned note that apply computes. */
function computedBy(id: string, planned: Planned, revision: number): NoteResult {
  return {
    id,
    revision,
    passphrase_revision: planned.passphrase_revision === UNKNOWN ? revision : planned.passphrase_revision,
    sections: planned.sections?.map(({ heading }) => ({ anchor: anchorOf(heading) })) ?? null,
  }
}

/** Fails in the way that a note's `trouble` names. */
async function makeTrouble(trouble: string | null, signal: AbortSignal): Promise<void> {
  if (trouble === 'throw') throw new Error('the service is on fire')
  if (trouble === 'refuse')
    throw new DiagnosticError(errorAt(['trouble'], 'The service refused', 'Ask again.'))
  if (trouble === 'wait') await untilAborted(signal)
  if (trouble === 'crash') {
    setImmediate(() => {
      throw new Error('thrown outside of any handler')
    })
    await new Promise(() => undefined)
  }
}

/** Waits for `signal` to abort and then fails, like an aborted request. */
function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const stop = (): void => reject(new Error('the request was aborted'))
    if (signal.aborted) stop()
    signal.addEventListener('abort', stop)
  })
}

/** Results that break Terraform's rules. */
function wrongResults(trouble: string | null): NoteResult {
  if (trouble === 'other-title') return { title: 'not what was planned' }
  if (trouble === 'leak') return { passphrase: 'hunter2' }
  return {}
}

const note = resourceFor<NoteStore>()({
  schema: noteSchema,
  upgraders: {
    // Version 0 called the title "name".
    0: ({ name, ...rest }) => ({ ...rest, title: name ?? null }),
  },
  validate({ config, report }) {
    if (config.title === '') report(errorAt(['title'], 'Empty title', 'Give the note a title.'))
    if (config.author === 'none') report(errorAt(['author'], 'No author', 'Name an author.'))
  },
  plan({ change, private: secret, report }) {
    if (change.action === 'delete') {
      if (change.prior.trouble === 'warn') report(warningAt(undefined, 'This note will be missed'))
      return undefined
    }
    const { passphrase, color } = change.config
    const planned: AmendmentOf<typeof noteSchema> = { color: color ?? 'white' }
    if (passphrase === null) return { planned }
    const isSent = passphrase !== UNKNOWN && Buffer.from(secret).equals(fingerprint(passphrase))
    return { planned: isSent ? planned : { ...planned, passphrase_revision: UNKNOWN } }
  },
  read({ client, prior }) {
    const found = client.load(prior.id ?? '')
    if (found === undefined) return null
    const weight = found.weight === null ? null : (numberFromText(found.weight) ?? null)
    return { state: { ...found.note, weight } }
  },
  async create({ client, planned, config, keep, signal }) {
    if (planned.trouble === 'early') await makeTrouble('throw', signal)
    const id = randomUUID()
    client.save(id, toFile(planned, 1))
    keep({ id })
    await makeTrouble(planned.trouble, signal)
    return {
      state: { ...computedBy(id, planned, 1), ...wrongResults(planned.trouble) },
      private: fingerprint(config.passphrase),
    }
  },
  async update({ client, planned, config, prior, signal, keep }) {
    await makeTrouble(planned.trouble, signal)
    const id = prior.id ?? ''
    const revision = Number(prior.revision) + 1
    client.save(id, toFile(planned, revision))
    if (planned.trouble === 'half') {
      keep({ title: planned.title, revision })
      throw new Error('only the title was changed')
    }
    return { state: computedBy(id, planned, revision), private: fingerprint(config.passphrase) }
  },
  async delete({ client, prior, signal }) {
    if (prior.trouble?.startsWith('delete-')) await makeTrouble(prior.trouble.slice(7), signal)
    client.remove(prior.id ?? '')
  },
  import({ id }) {
    return { state: { id } }
  },
})

const lookup = dataSourceFor<NoteStore>()({
  schema: defineSchema({
    attributes: {
      id: { type: 'string', required: true },
      title: { type: 'string', computed: true },
    },
  }),
  read({ client, config }) {
    const found = client.load(config.id)
    if (found === undefined) throw new DiagnosticError(errorAt(['id'], 'No such note', 'Check the id.'))
    return { state: { title: found.note.title ?? null } }
  },
})

/** The provider `sample`. `extra` are further resources, for tests that need a badly behaved one. */
export function sampleProvider(extra: { readonly [typeName: string]: AnyResource<NoteStore> } = {}) {
  return defineProvider({
    name: 'sample',
    version: '0.1.0',
    schema: providerSchema,
    configure: ({ config }) => openNotes(config.directory === UNKNOWN ? '' : config.directory),
    resources: { sample_note: note, ...extra },
    dataSources: { sample_note: lookup },
  })
}
