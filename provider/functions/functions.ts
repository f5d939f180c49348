import { DURATION_FORM, formatDuration, parseDuration } from '../../api/contract/duration.ts'
import { FunctionError, functionOf } from '../protocol/authoring/providerFunction.ts'

const NANOS_PER_SECOND = 1_000_000_000

/** `provider::pharos::duration_seconds`. */
const durationSeconds = functionOf({
  summary: 'Converts a duration to seconds',
  description:
    'Converts a duration such as `1m30s` to seconds, with fractions, for arithmetic with intervals.',
  parameters: [
    { name: 'duration', type: 'string', description: 'A duration such as `500ms`, `30s` or `1m30s`.' },
  ],
  returns: 'number',
  call: (text) => {
    const duration = parseDuration(text)
    if (duration === undefined) throw new FunctionError(`must be ${DURATION_FORM}`, 0)
    return duration.secs + duration.nanos / NANOS_PER_SECOND
  },
})

/** `provider::pharos::format_duration`. */
const formatSeconds = functionOf({
  summary: 'Formats a number of seconds as a duration',
  description:
    'Formats a number of seconds as the shortest duration: 90 becomes `1m30s`, 0.25 becomes `250ms`.',
  parameters: [
    { name: 'seconds', type: 'number', description: 'Seconds, 0 or more; precise to a nanosecond.' },
  ],
  returns: 'string',
  call: (given) => {
    const seconds = Number(String(given))
    if (!(seconds >= 0)) throw new FunctionError('must not be negative', 0)
    if (seconds > Number.MAX_SAFE_INTEGER) {
      throw new FunctionError(`must be at most ${Number.MAX_SAFE_INTEGER}`, 0)
    }
    const secs = Math.floor(seconds)
    const nanos = Math.round((seconds - secs) * NANOS_PER_SECOND)
    return nanos === NANOS_PER_SECOND
      ? formatDuration({ secs: secs + 1, nanos: 0 })
      : formatDuration({ secs, nanos })
  },
})

/** `provider::pharos::basic_auth`. */
const basicAuth = functionOf({
  summary: 'Value of an Authorization header from user name and password',
  description:
    'Value of an `Authorization` header for HTTP basic authentication, for use in `value_wo`. The result is ' +
    'ephemeral if the password is.',
  parameters: [
    { name: 'user', type: 'string', description: 'User name, without a colon.' },
    { name: 'password', type: 'string', description: 'Password.' },
  ],
  returns: 'string',
  call: (user, password) => {
    if (user.includes(':')) throw new FunctionError('must not contain a colon', 0)
    return `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`
  },
})

/** The functions of the provider `pharos`, by name. */
export const functions = {
  duration_seconds: durationSeconds,
  format_duration: formatSeconds,
  basic_auth: basicAuth,
}
