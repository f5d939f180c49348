/**
 * Simulates Terraform: keeps schemas, merges configuration with prior state, and carries private bytes from plan to
 * apply. Values are plain JavaScript.
 */
import { type Attributes, objectTypesOf } from '../authoring/schema.ts'
import { conform } from '../values/conform.ts'
import { isObject } from '../values/equality.ts'
import { decodeMsgpack, encodeMsgpack } from '../values/msgpack.ts'
import { formatPath, type Path } from '../values/path.ts'
import type { Type } from '../values/type.ts'
import type { ObjectValue } from '../values/value.ts'
import type { WireDiagnostic, WirePath } from '../wire/messageParts.ts'
import { proposedNewState } from './proposedNewState.ts'
import { METHODS, type ProviderClient } from './providerClient.ts'
import { readWireSchema } from './wireSchema.ts'

/** A diagnostic in the form that tests compare. `path` is in Terraform's notation; '' when there is none. */
interface SeenDiagnostic {
  readonly severity: 'error' | 'warning'
  readonly summary: string
  readonly detail: string
  readonly path: string
}

/** An object as Terraform stores it; `state` is null when it does not exist. */
export interface StoredObject {
  readonly state: ObjectValue | null
  readonly private: Uint8Array
}

/** The response of an RPC with its diagnostics. */
export interface Outcome extends StoredObject {
  readonly diagnostics: readonly SeenDiagnostic[]
}

/** A plan, ready for `apply`. @public */
export interface PlanOutcome extends Outcome {
  readonly requiresReplace: readonly string[]
  /** The configuration for the apply. */
  readonly config: ObjectValue | null
  readonly prior: StoredObject
}

/** Plain values by attribute; omitted attributes are null. */
export type PlainObject = { readonly [attribute: string]: unknown }

/** The prior object of a create. */
export const NOTHING: StoredObject = { state: null, private: new Uint8Array(0) }

/** The client capabilities of Terraform 1.11. */
const CAPABILITIES = { writeOnlyAttributesAllowed: true }

/** Terraform's calls to one provider. */
export interface TerraformCore {
  configure(config: PlainObject): Promise<readonly SeenDiagnostic[]>
  validate(
    typeName: string,
    config: PlainObject,
    capabilities?: { readonly writeOnlyAttributesAllowed: boolean },
  ): Promise<readonly SeenDiagnostic[]>
  /** Plans `config`; null plans a delete. */
  plan(typeName: string, config: PlainObject | null, prior?: StoredObject): Promise<PlanOutcome>
  /** Applies a plan; `config` replaces its configuration, as ephemeral values do. */
  apply(typeName: string, plan: PlanOutcome, config?: PlainObject): Promise<Outcome>
  read(typeName: string, stored: StoredObject): Promise<Outcome>
  /** Reads stored state of a schema version; `json` is the text of the state. */
  upgrade(typeName: string, version: number, json: string): Promise<Outcome>
  import(typeName: string, id: string): Promise<Outcome>
  readData(typeName: string, config: PlainObject): Promise<Outcome>
  stop(): Promise<void>
}

interface TypeSchema {
  readonly attributes: Attributes
  readonly type: Type
}

function seenPath(wire: WirePath | undefined): string {
  const path: Path = (wire?.steps ?? []).map(
    (step) => step.attributeName ?? step.elementKeyInt ?? { key: step.elementKeyString ?? '' },
  )
  return formatPath(path)
}

function seen(diagnostics: readonly WireDiagnostic[]): readonly SeenDiagnostic[] {
  return diagnostics.map(({ severity, summary = '', detail = '', attribute }) => ({
    severity: severity === 1 ? 'error' : 'warning',
    summary,
    detail,
    path: seenPath(attribute),
  }))
}

function toObject({ type }: TypeSchema, plain: PlainObject): ObjectValue {
  const value = conform(type, plain)
  if (!isObject(value)) throw new Error('a configuration is an object')
  return value
}

const toWire = (value: ObjectValue | null) => ({ msgpack: encodeMsgpack(value) })

function fromWire({ type }: TypeSchema, wire: { readonly msgpack?: Uint8Array } | undefined) {
  if (!wire?.msgpack?.length) return null
  const value = decodeMsgpack(type, wire.msgpack)
  return isObject(value) ? value : null
}

/** Fetches the provider's schemas and simulates Terraform on `client`. */
export async function openCore(client: ProviderClient): Promise<TerraformCore> {
  const schema = await client.call(METHODS.GetProviderSchema, {})
  const typed = (attributes: Attributes): TypeSchema => ({
    attributes,
    type: { object: objectTypesOf(attributes) },
  })
  const provider = typed(readWireSchema(schema.provider))
  const schemaOf = (typeName: string): TypeSchema =>
    typed(readWireSchema(schema.resourceSchemas.get(typeName)))
  const dataSchemaOf = (typeName: string): TypeSchema =>
    typed(readWireSchema(schema.dataSourceSchemas.get(typeName)))
  return {
    configure: async (config) => {
      const request = { terraformVersion: '1.11.4', config: toWire(toObject(provider, config)) }
      return seen((await client.call(METHODS.ConfigureProvider, request)).diagnostics)
    },
    validate: async (typeName, config, capabilities = CAPABILITIES) => {
      const response = await client.call(METHODS.ValidateResourceConfig, {
        typeName,
        config: toWire(toObject(schemaOf(typeName), config)),
        clientCapabilities: capabilities,
      })
      return seen(response.diagnostics)
    },
    plan: (typeName, config, prior = NOTHING) =>
      plan(client, schemaOf(typeName), { typeName, config, prior }),
    apply: (typeName, planned, config) => apply(client, schemaOf(typeName), { typeName, planned, config }),
    ...readers(client, schemaOf, dataSchemaOf),
    stop: async () => void (await client.call(METHODS.StopProvider, {})),
  }
}

async function plan(
  client: ProviderClient,
  schema: TypeSchema,
  {
    typeName,
    config: plain,
    prior,
  }: { readonly typeName: string; readonly config: PlainObject | null; readonly prior: StoredObject },
): Promise<PlanOutcome> {
  const config = plain === null ? null : toObject(schema, plain)
  const proposed = config === null ? null : proposedNewState(schema.attributes, prior.state, config)
  const response = await client.call(METHODS.PlanResourceChange, {
    typeName,
    priorState: toWire(prior.state),
    proposedNewState: toWire(proposed),
    config: toWire(config),
    priorPrivate: prior.private,
  })
  return {
    state: fromWire(schema, response.plannedState),
    private: response.plannedPrivate,
    diagnostics: seen(response.diagnostics),
    requiresReplace: response.requiresReplace.map(seenPath),
    config,
    prior,
  }
}

async function apply(
  client: ProviderClient,
  schema: TypeSchema,
  {
    typeName,
    planned,
    config,
  }: { readonly typeName: string; readonly planned: PlanOutcome; readonly config: PlainObject | undefined },
): Promise<Outcome> {
  const response = await client.call(METHODS.ApplyResourceChange, {
    typeName,
    priorState: toWire(planned.prior.state),
    plannedState: toWire(planned.state),
    config: toWire(config === undefined ? planned.config : toObject(schema, config)),
    plannedPrivate: planned.private,
  })
  return {
    state: fromWire(schema, response.newState),
    private: response.private,
    diagnostics: seen(response.diagnostics),
  }
}

function readers(
  client: ProviderClient,
  schemaOf: (typeName: string) => TypeSchema,
  dataSchemaOf: (typeName: string) => TypeSchema,
): Pick<TerraformCore, 'read' | 'upgrade' | 'import' | 'readData'> {
  return {
    read: async (typeName, stored) => {
      const response = await client.call(METHODS.ReadResource, {
        typeName,
        currentState: toWire(stored.state),
        private: stored.private,
      })
      const state = fromWire(schemaOf(typeName), response.newState)
      return { state, private: response.private, diagnostics: seen(response.diagnostics) }
    },
    upgrade: async (typeName, version, json) => {
      const response = await client.call(METHODS.UpgradeResourceState, {
        typeName,
        version,
        rawState: { json: Buffer.from(json) },
      })
      const state = fromWire(schemaOf(typeName), response.upgradedState)
      return { ...NOTHING, state, diagnostics: seen(response.diagnostics) }
    },
    import: async (typeName, id) => {
      const response = await client.call(METHODS.ImportResourceState, { typeName, id })
      const [imported] = response.importedResources
      const state = fromWire(schemaOf(typeName), imported?.state)
      const { private: bytes = NOTHING.private } = imported ?? {}
      return { state, private: bytes, diagnostics: seen(response.diagnostics) }
    },
    readData: async (typeName, config) => {
      const schema = dataSchemaOf(typeName)
      const response = await client.call(METHODS.ReadDataSource, {
        typeName,
        config: toWire(toObject(schema, config)),
      })
      const state = fromWire(schema, response.state)
      return { ...NOTHING, state, diagnostics: seen(response.diagnostics) }
    },
  }
}
