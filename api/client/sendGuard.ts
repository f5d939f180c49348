import type { Dispatcher } from 'undici'

/** The request was aborted before it was written to a connection; `cause` is why. */
export class SendAborted extends Error {
  override readonly name = 'SendAborted'
}

/**
 * Calls `assertMaySend` when a connection is ready and the request is about to be written to it, which may be long after the
 * request was handed over: other requests were ahead of it, or the process was suspended. An error that `assertMaySend` throws
 * aborts the request, which then fails with SendAborted and this error as its cause.
 */
export function sendGuard(assertMaySend: () => void): Dispatcher.DispatcherComposeInterceptor {
  return (dispatch) => (options, handler) =>
    dispatch(options, {
      onRequestStart(controller, context) {
        try {
          assertMaySend()
        } catch (cause) {
          throw new SendAborted('aborted before it was sent', { cause })
        }
        handler.onRequestStart?.(controller, context)
      },
      onResponseStart: (...args) => handler.onResponseStart?.(...args),
      onResponseData: (...chunk) => handler.onResponseData?.(...chunk),
      onResponseEnd: (...end) => handler.onResponseEnd?.(...end),
      onResponseError: (...failure) => handler.onResponseError?.(...failure),
    })
}
