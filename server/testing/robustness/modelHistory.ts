import type { ServiceRequest } from '../../../api/contract/service.ts'

/** Limits of the modelled organisation, so small that they are often reached. */
export const MODEL_LIMITS = {
  servicesMax: 3,
  endpointsMax: 5,
  serviceEndpointsMax: 3,
  intervalSecsMin: 30,
} as const

/** Number of stored services, including paused ones, that are allowed for each active one. */
const STORED_PER_ACTIVE = 10

/** One request of the API. `place` selects among existing and deleted services. */
export type Step =
  | { readonly kind: 'create'; readonly definition: ServiceRequest }
  | { readonly kind: 'replace'; readonly place: number; readonly definition: ServiceRequest }
  | { readonly kind: 'pause' | 'resume' | 'delete' | 'get'; readonly place: number }

/** A service in the model, without values that the server chooses, such as ids. */
export interface ModelService {
  readonly definition: ServiceRequest
  readonly isPaused: boolean
  readonly generation: number
}

/** A command that the regions must have received, in order. */
export interface ModelCommand {
  readonly type: 'StartServiceMonitoring' | 'EndServiceMonitoring'
  readonly region: string
  readonly generation: number
}

/** State of an organisation after some steps. Deleted services keep their place: `null`. */
export interface Model {
  readonly services: readonly (ModelService | null)[]
  /** Commands of each service, by place. */
  readonly commands: readonly (readonly ModelCommand[])[]
}

/** The response of a step and the state after it. */
export interface Outcome {
  readonly status: 200 | 201 | 204 | 403 | 404
  readonly model: Model
}

export const EMPTY_MODEL: Model = { services: [], commands: [] }

/**
 * The effect of `step` according to the API document, implemented a second time and as simply as possible: it uses no
 * code of the server. Pure.
 */
export function expectedOutcome(model: Model, step: Step): Outcome {
  if (step.kind === 'create') {
    const { definition } = step
    const stored = model.services.filter((service) => service !== null).length
    if (stored >= MODEL_LIMITS.servicesMax * STORED_PER_ACTIVE || !fits(model, definition)) {
      return { status: 403, model }
    }
    const service: ModelService = { definition, isPaused: false, generation: 1 }
    const starts = commandsTo('StartServiceMonitoring', definition.regions, 1)
    return {
      status: 201,
      model: { services: [...model.services, service], commands: [...model.commands, starts] },
    }
  }
  const service = model.services[step.place] ?? null
  if (service === null) return { status: 404, model }
  const after = changed(model, service, step)
  if (after === undefined) return { status: 403, model }
  return {
    status: step.kind === 'delete' ? 204 : 200,
    model: {
      services: model.services.with(step.place, after.service),
      commands: model.commands.with(step.place, [...(model.commands[step.place] ?? []), ...after.commands]),
    },
  }
}

interface Change {
  readonly service: ModelService | null
  readonly commands: readonly ModelCommand[]
}

/** `undefined` when the plan does not allow it. */
function changed(
  model: Model,
  service: ModelService,
  step: Exclude<Step, { kind: 'create' }>,
): Change | undefined {
  const { definition, isPaused } = service
  const generation = service.generation + 1
  const ends = commandsTo('EndServiceMonitoring', definition.regions, generation)
  const starts = commandsTo('StartServiceMonitoring', definition.regions, generation)
  const same: Change = { service, commands: [] }
  switch (step.kind) {
    case 'get':
      return same
    case 'delete':
      return { service: null, commands: ends }
    case 'pause':
      return isPaused ? same : { service: { ...service, isPaused: true, generation }, commands: ends }
    case 'resume':
      if (!isPaused) return same
      return fits(model, definition)
        ? { service: { ...service, isPaused: false, generation }, commands: starts }
        : undefined
    case 'replace':
      return replaced(model, service, step.definition)
  }
}

function replaced(model: Model, before: ModelService, definition: ServiceRequest): Change | undefined {
  if (definition.interval_secs < MODEL_LIMITS.intervalSecsMin) return undefined
  const grownBy = definition.endpoints.length - before.definition.endpoints.length
  if (grownBy > 0) {
    if (definition.endpoints.length > MODEL_LIMITS.serviceEndpointsMax) return undefined
    if (!before.isPaused && endpointsOf(model) + grownBy > MODEL_LIMITS.endpointsMax) return undefined
  }
  const generation = before.generation + 1
  const gone = before.definition.regions.filter((region) => !definition.regions.includes(region))
  const commands = [
    ...commandsTo('EndServiceMonitoring', gone, generation),
    ...commandsTo('StartServiceMonitoring', definition.regions, generation),
  ]
  return { service: { ...before, definition, generation }, commands: before.isPaused ? [] : commands }
}

/** Whether a service of `definition` may become active. */
function fits(model: Model, definition: ServiceRequest): boolean {
  const { length } = definition.endpoints
  return (
    definition.interval_secs >= MODEL_LIMITS.intervalSecsMin &&
    length <= MODEL_LIMITS.serviceEndpointsMax &&
    activeOf(model).length < MODEL_LIMITS.servicesMax &&
    endpointsOf(model) + length <= MODEL_LIMITS.endpointsMax
  )
}

function activeOf({ services }: Model): readonly ModelService[] {
  return services.filter((service) => service !== null).filter(({ isPaused }) => !isPaused)
}

function endpointsOf(model: Model): number {
  return activeOf(model).reduce((sum, { definition }) => sum + definition.endpoints.length, 0)
}

function commandsTo(
  type: ModelCommand['type'],
  regions: readonly string[],
  generation: number,
): readonly ModelCommand[] {
  return regions.map((region) => ({ type, region, generation }))
}
