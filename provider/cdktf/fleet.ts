import { readdirSync, readFileSync } from 'node:fs'
import { extname, join, parse } from 'node:path'
import { Token } from 'cdktf'
import type { Construct } from 'constructs'
import { load } from 'js-yaml'
import { inService, MonitoredService, type MonitoredServiceConfig } from './monitoredService.ts'

/** A service with a name, which identifies it in a list. */
export interface NamedServiceConfig extends MonitoredServiceConfig {
  readonly name: string
}

/**
 * A service for each entry, created by `define`. An entry of a record is identified by its key; one of an array by its
 * name in lower-case words, so that the order of the array does not matter. Returns them by these identifiers.
 * Throws for duplicate identifiers, for a key without a valid or unique Terraform address, and for a
 * name with a token, whose address would change at each run.
 */
export function monitorEach<Entry>(
  scope: Construct,
  entries: readonly Entry[],
  define: (entry: Entry) => NamedServiceConfig,
): Record<string, MonitoredService>
export function monitorEach<Key extends string, Entry>(
  scope: Construct,
  entries: Readonly<Record<Key, Entry>>,
  define: (entry: Entry, key: Key) => MonitoredServiceConfig,
): Record<Key, MonitoredService>
export function monitorEach<Entry>(
  scope: Construct,
  entries: readonly Entry[] | Readonly<Record<string, Entry>>,
  define: (entry: Entry, key: string) => MonitoredServiceConfig,
): Record<string, MonitoredService> {
  const configs = isList(entries)
    ? entries.map((entry, index) => named(inService(scope, `entry ${index + 1}`, () => define(entry, ''))))
    : Object.entries(entries).map(
        ([key, entry]) => [key, inService(scope, key, () => define(entry, key))] as const,
      )
  return Object.fromEntries(configs.map(([id, config]) => [id, new MonitoredService(scope, id, config)]))
}

function isList<Entry>(
  entries: readonly Entry[] | Readonly<Record<string, Entry>>,
): entries is readonly Entry[] {
  return Array.isArray(entries)
}

function named(config: MonitoredServiceConfig): readonly [string, MonitoredServiceConfig] {
  const { name = '' } = config
  if (Token.isUnresolved(name)) {
    throw new Error(
      'a name that only Terraform knows makes no stable address: give monitorEach a record, whose keys are known now',
    )
  }
  const id = name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '_')
    .replaceAll(/^_+|_+$/g, '')
  if (!/^[a-z]/.test(id)) {
    throw new Error(
      `no Terraform address can be derived from the name "${name}": give the fleet as a record with keys`,
    )
  }
  return [id, config]
}

const EXTENSIONS: readonly string[] = ['.yaml', '.yml', '.json']

/**
 * The documents in `folder`, by their file's name without extension, each parsed by `parse`, a function
 * that throws for invalid content, such as that of a schema. Other files and subfolders are
 * skipped. Throws with the file's path when one cannot be read; and when there is none, because a mistyped
 * folder would otherwise delete a fleet.
 */
export function documentsIn(folder: string): Record<string, unknown>
export function documentsIn<Document>(
  folder: string,
  parseDocument: (content: unknown) => Document,
): Record<string, Document>
export function documentsIn(
  folder: string,
  parseDocument: (content: unknown) => unknown = (content) => content,
): Record<string, unknown> {
  const files = readdirSync(folder).filter((file) => EXTENSIONS.includes(extname(file)))
  if (files.length === 0) throw new Error(`${folder} holds no ${EXTENSIONS.join(', ')} file`)
  const documents = new Map<string, unknown>()
  for (const file of files.sort()) {
    const path = join(folder, file)
    const { name } = parse(file)
    if (documents.has(name)) throw new Error(`${path}: another file is named ${name} too`)
    try {
      documents.set(name, parseDocument(load(readFileSync(path, 'utf8'))))
    } catch (error) {
      throw new Error(`${path}: ${error instanceof Error ? error.message : String(error)}`, { cause: error })
    }
  }
  return Object.fromEntries(documents)
}
