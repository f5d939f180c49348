import type { ServiceRequest } from '../../../api/contract/service.ts'

/** Limits of the organisation whose history is modelled: small, so that they are met all the time. */
export const MODEL_LIMITS = {
  servicesMax: 3,
  endpointsMax: 5,
  serviceEndpointsMax: 3,
  intervalSecsMin: 30,
} as const

/** Services that may be stored, paused ones included, for each that may be active. */
const STORED_PER_ACTIVE = 10

/** One request of the API. `place` picks among the services there are, and those that were deleted. */
export type Step =
  | { readonly kind: 'create'; readonly definition: ServiceRequest }
  | { readonly kind: 'replace'; readonly place: number; readonly definition: ServiceRequest }
  | { readonly kind: 'pause' | 'resume' | 'delete' | 'get'; readonly place: number }

/** A service as the model knows it; what the server decides itself, ids above all, is not in it. */
export interface ModelService {
  readonly definition: ServiceRequest
  readonly isPaused: boolean
  readonly generation: number
}

/** A command that the regions must have been told, in order. */
export interface ModelCommand {
  readonly type: 'StartServiceMonitoring' | 'EndServiceMonitoring'
  readonly region: string
  readonly generation: number
}

/** What an organisation looks like after some steps. Services keep their place when they are deleted: `null`. */
export interface Model {
  readonly services: readonly (ModelService | null)[]
  /** Of each service, by place. */
  readonly commands: readonly (readonly ModelCommand[])[]
}

/** What a step is answered and leaves behind. */
export interface Outcome {
  readonly status: 200 | 201 | 204 | 403 | 404
  readonly model: Model
}

export const EMPTY_MODEL: Model = { services: [], commands: [] }

/**
 * What the API document says of `step`, written a second time and as plainly as possible: nothing of the server is
 * used. Pure.
 */
export function foretell(model: Model, step: Step): Outcome {
  if (step.kind === 'create') {
    const { definition } = step
    const stored = model.services.filter((service) => service !== null).length
    if (stored >= MODEL_LIMITS.servicesMax * STORED_PER_ACTIVE || !fits(model, definition)) {
      return { status: 403, model }
    }
    const service: ModelService = { definition, isPaused: false, generation: 1 }
    const starts = told('StartServiceMonitoring', definition.regions, 1)
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
  const ends = told('EndServiceMonitoring', definition.regions, generation)
  const starts = told('StartServiceMonitoring', definition.regions, generation)
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
    ...told('EndServiceMonitoring', gone, generation),
    ...told('StartServiceMonitoring', definition.regions, generation),
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

function told(
  type: ModelCommand['type'],
  regions: readonly string[],
  generation: number,
): readonly ModelCommand[] {
  return regions.map((region) => ({ type, region, generation }))
}
