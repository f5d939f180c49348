/** What terminals and the logs of pipelines obey, a line break included, and what turns the direction of writing. */
export const INVISIBLE = /[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/gu
