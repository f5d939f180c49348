import type { CallOptions } from '../../api/client/request.ts'
import type { ServiceResponse } from '../../api/contract/service.ts'
import { type AnyAction, actionFor } from '../protocol/authoring/action.ts'
import { errorAt } from '../protocol/authoring/diagnostics.ts'
import { defineSchema, required } from '../protocol/authoring/schema.ts'
import { UNKNOWN } from '../protocol/values/value.ts'
import type { Connection } from './connection.ts'
import { isUuid } from './read/identifiers.ts'
import { runInSession } from './runTask.ts'
import type { Session } from './session.ts'

function serviceAction(
  verb: 'pause' | 'resume',
  description: string,
  act: (session: Session, id: string, options: CallOptions) => Promise<ServiceResponse>,
): AnyAction<Connection> {
  return actionFor<Connection>()({
    schema: defineSchema({
      description,
      attributes: {
        service_id: required('string', 'UUID of the service.'),
      },
    }),
    validate({ config, report }) {
      if (config.service_id !== UNKNOWN && !isUuid(config.service_id))
        report(errorAt(['service_id'], 'Invalid service_id', 'service_id must be the UUID of a service.'))
    },
    async invoke(context) {
      const { service_id: id } = context.config
      const task = { task: `${verb} service ${id}`, operation: 'update' } as const
      await runInSession(task, context, async (session, signal) => {
        const { name } = await act(session, id, { signal })
        context.progress(`Service "${name}" is ${verb}d.`)
      })
    },
  })
}

/** `action "pharos_pause_service"`. */
export const pauseAction = serviceAction(
  'pause',
  'Pauses a service until it is resumed, such as before a deployment (Terraform 1.14). The next apply of a ' +
    '`pharos_service` with `paused = false` resumes it.',
  (session, id, options) => session.client.pauseService(id, options),
)

/** `action "pharos_resume_service"`. */
export const resumeAction = serviceAction(
  'resume',
  'Resumes a paused service, such as after a deployment (Terraform 1.14).',
  (session, id, options) => session.client.resumeService(id, options),
)
